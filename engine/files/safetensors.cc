#include "engine/files/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/files/checked.h"
#include "engine/files/strict_json.h"

namespace assay {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostHeader = 100'000'000;
constexpr std::size_t kSafetensorsDimensions = 8;

struct TypeName {
  std::string_view name;
  std::optional<DType> dtype;
};

// The format's element types; without a DType: known, and none that a kernel reads.
constexpr std::array<TypeName, 15> kTypes{{{"F32", DType::f32},
                                           {"F16", DType::f16},
                                           {"BF16", DType::bf16},
                                           {"F64", DType::f64},
                                           {"I64", DType::i64},
                                           {"I32", DType::i32},
                                           {"U8", DType::u8},
                                           {"BOOL", {}},
                                           {"I8", {}},
                                           {"I16", {}},
                                           {"U16", {}},
                                           {"U32", {}},
                                           {"U64", {}},
                                           {"F8_E4M3", {}},
                                           {"F8_E5M2", {}}}};

struct Entry {
  StoredTensor tensor;
  std::uint64_t begin;
  std::uint64_t end;
};

// The members of one tensor's description.
class EntryReader {
 public:
  EntryReader(const std::string& file, const std::string& name, const json& description)
      : file_(file), name_(name), description_(description) {}

  Entry read(std::uint64_t data_offset) const {
    if (!description_.is_object() || description_.size() != 3) {
      fail(Fault::member, "expected an object of dtype, shape and data_offsets");
    }
    Entry entry;
    entry.tensor.name = name_;
    entry.tensor.file = file_;
    entry.tensor.dtype = dtype();
    const std::vector<std::uint64_t> dims = integers("shape");
    if (dims.size() > kSafetensorsDimensions)
      fail(Fault::dimensions, std::to_string(dims.size()) + " dimensions; expected at most 8");
    const auto elements = checked_product(dims);
    const auto size = elements ? checked_multiply(*elements, dtype_size(entry.tensor.dtype)) : std::nullopt;
    if (!size) fail(Fault::overflow, "the product of its shape leaves 64 bits");
    entry.tensor.shape.assign(dims.begin(), dims.end());
    const std::vector<std::uint64_t> offsets = integers("data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) fail(Fault::member, "expected data_offsets [begin, end]");
    entry.begin = offsets[0];
    entry.end = offsets[1];
    if (entry.end - entry.begin != *size) {
      fail_at(data_offset, entry, Fault::size_mismatch,
              std::to_string(entry.end - entry.begin) + " bytes; its shape and dtype make " + std::to_string(*size));
    }
    return entry;
  }

 private:
  [[noreturn]] void fail(Fault fault, const std::string& why) const {
    throw ModelFileError(fault, {file_, {}, "tensor " + shown(name_)}, why);
  }
  [[noreturn]] void fail_at(std::uint64_t data_offset, const Entry& entry, Fault fault, const std::string& why) const {
    throw ModelFileError(fault, {file_, checked_add(data_offset, entry.begin), "tensor " + shown(name_)}, why);
  }

  const json& member(const char* name) const {
    const auto found = description_.find(name);
    if (found == description_.end()) fail(Fault::member, std::string("member '") + name + "' is missing");
    return *found;
  }

  DType dtype() const {
    const json& value = member("dtype");
    if (!value.is_string()) fail(Fault::member, "expected dtype to be a string");
    const auto& name = value.get_ref<const std::string&>();
    const auto* known = std::find_if(kTypes.begin(), kTypes.end(), [&name](const TypeName& type) { return type.name == name; });
    if (known != kTypes.end() && known->dtype) return *known->dtype;
    fail(Fault::tensor_type, (known == kTypes.end() ? "unknown dtype " + shown(name) : "dtype " + name + " has no kernel here") +
                                 "; expected BF16, F16 or F32");
  }

  std::vector<std::uint64_t> integers(const char* name) const {
    const json& value = member(name);
    if (!value.is_array()) fail(Fault::member, std::string("expected ") + name + " to be an array");
    std::vector<std::uint64_t> out;
    for (const json& element : value) {
      if (!element.is_number_unsigned())
        fail(Fault::member, std::string("expected ") + name + " to hold integers from 0 to 2^64 - 1");
      out.push_back(element.get<std::uint64_t>());
    }
    return out;
  }

  const std::string& file_;
  const std::string& name_;
  const json& description_;
};

json read_header(std::span<const std::uint8_t> bytes, const std::string& file) {
  const auto fail = [&file](Fault fault, std::uint64_t at, const std::string& why) {
    throw ModelFileError(fault, {file, at, "header"}, why);
  };
  if (bytes.size() < 8) fail(Fault::truncated, 0, "8 bytes expected, the file has " + std::to_string(bytes.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMostHeader || length > bytes.size() - 8) {
    fail(Fault::header_length, 0,
         std::to_string(length) + " bytes long; expected at most " +
             std::to_string(std::min<std::uint64_t>(kMostHeader, bytes.size() - 8)));
  }
  if (length == 0 || bytes[8] != '{') fail(Fault::header_start, 8, "expected '{'");
  return parse_strict_json({reinterpret_cast<const char*>(bytes.data()) + 8, length}, file, 8);
}

// MLX writes null where it has none.
void check_metadata(const json& metadata, const std::string& file) {
  if (metadata.is_null()) return;
  const bool strings =
      metadata.is_object() && std::all_of(metadata.begin(), metadata.end(), [](const json& v) { return v.is_string(); });
  if (!strings)
    throw ModelFileError(Fault::member, {file, {}, "member '__metadata__'"}, "expected an object of strings, or null");
}

// Tensors fill the data one after the other, from its begin to the file's end.
void place(std::vector<Entry>& entries, std::span<const std::uint8_t> data, std::uint64_t data_offset, const std::string& file) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t next = 0;
  for (Entry& entry : entries) {
    StoredTensor& tensor = entry.tensor;
    const std::uint64_t begin = entry.begin;
    const std::uint64_t end = entry.end;
    const auto fail = [&](Fault fault, const std::string& why) {
      throw ModelFileError(fault, {file, checked_add(data_offset, begin), "tensor " + shown(tensor.name)}, why);
    };
    if (begin != next) {
      fail(begin < next ? Fault::overlap : Fault::hole, "data_offsets begin at " + std::to_string(begin) + "; expected " +
                                                            std::to_string(next) + ", the preceding tensor's end");
    }
    if (end > data.size()) {
      fail(Fault::outside_file,
           "data_offsets end at " + std::to_string(end) + "; the data has " + std::to_string(data.size()) + " bytes");
    }
    tensor.offset = data_offset + begin;
    tensor.bytes = data.subspan(begin, end - begin);
    if (begin != end && reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % dtype_alignment(tensor.dtype) != 0) {
      fail(Fault::misaligned, "expected a multiple of " + std::to_string(dtype_alignment(tensor.dtype)) + " in the data");
    }
    next = end;
  }
  if (next != data.size()) {
    throw ModelFileError(Fault::trailing_bytes, {file, data_offset + next, {}},
                         std::to_string(data.size() - next) + " bytes after the last tensor; expected the file's end");
  }
}

}  // namespace

MappedFile map_safetensors(const std::filesystem::path& path) {
  MappedFile file(path);
  std::uint64_t length = 0;
  if (file.bytes().size() >= sizeof length) std::memcpy(&length, file.bytes().data(), sizeof length);
  const bool moves = length % 8 != 0 && length < file.bytes().size();  // parse_safetensors refuses what is longer
  return moves ? file.moved(8 - length % 8) : std::move(file);
}

std::vector<StoredTensor> parse_safetensors(std::span<const std::uint8_t> bytes, const std::string& file) {
  const json header = read_header(bytes, file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::uint64_t data_offset = 8 + length;
  std::vector<Entry> entries;
  for (const auto& [name, description] : header.items()) {
    if (name == "__metadata__") {
      check_metadata(description, file);
      continue;
    }
    if (name.empty()) throw ModelFileError(Fault::name, {file, {}, "tensor ''"}, "an empty name");
    entries.push_back(EntryReader(file, name, description).read(data_offset));
  }
  place(entries, bytes.subspan(data_offset), data_offset, file);
  std::vector<StoredTensor> tensors;
  tensors.reserve(entries.size());
  for (Entry& entry : entries) tensors.push_back(std::move(entry.tensor));
  return tensors;
}

}  // namespace assay
