#include "engine/files/gguf.h"

#include <algorithm>
#include <bit>
#include <set>

#include "engine/files/byte_reader.h"
#include "engine/files/checked.h"
#include "engine/files/gguf_types.h"
#include "engine/files/stored_types.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "fields are read as they lie");

// The shortest entry: a key of one byte and a value of one byte; a tensor with a name of one byte and one dimension.
constexpr std::uint64_t kLeastEntry = 8 + 1 + 4 + 1;
constexpr std::uint64_t kLeastTensor = 8 + 1 + 4 + 8 + 4 + 8;
constexpr std::uint64_t kMostKey = 65535;
constexpr std::uint64_t kMostTensorName = 63;  // ggml keeps 64 bytes, the last of them zero
constexpr std::uint32_t kGgufDimensions = 4;
constexpr std::uint64_t kLeastAlignment = 8;
constexpr std::uint64_t kMostAlignment = 1 << 20;
constexpr std::uint64_t kReserved = 1 << 12;  // elements reserved on a count's word alone

class GgufParser {
 public:
  GgufParser(std::span<const std::uint8_t> bytes, const std::string& file) : bytes_(bytes), in_(bytes, file) {}

  GgufContents parse() {
    read_header();
    for (std::uint64_t i = 0; i < entries_; ++i) read_entry();
    read_alignment();
    for (std::uint64_t i = 0; i < tensors_; ++i) read_tensor();
    place_tensors();
    return std::move(out_);
  }

 private:
  void read_header();
  void read_entry();
  void read_elements(GgufValue& value, const std::string& subject);
  GgufType read_type(const std::string& subject);
  void read_alignment();
  void read_tensor();
  std::vector<std::uint64_t> read_dimensions(const std::string& subject);
  DType read_tensor_type(const std::string& subject);
  void place_tensors();
  void check_offset(std::size_t index, std::uint64_t expected) const;
  std::string_view read_name(std::uint64_t most, std::string_view what);

  std::span<const std::uint8_t> bytes_;
  ByteReader in_;
  GgufContents out_;
  std::uint64_t entries_ = 0;
  std::uint64_t tensors_ = 0;
  std::set<std::string_view> names_;  // of keys, then of tensors
  struct Declared {
    std::uint64_t at;        // where the file states the offset
    std::uint64_t relative;  // that offset
    std::uint64_t size;
  };
  std::vector<Declared> declared_;
};

void GgufParser::read_header() {
  const auto bytes = in_.take(4, "magic");
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (magic != "GGUF") in_.fail_at(0, Fault::magic, "magic", shown(magic) + "; expected 'GGUF'");
  out_.version = in_.read<std::uint32_t>("version");
  if (out_.version != 2 && out_.version != 3) {
    const std::uint32_t swapped = __builtin_bswap32(out_.version);
    if (swapped >= 1 && swapped <= 3) {
      in_.fail_at(4, Fault::big_endian, "version",
                  "a big-endian file (version " + std::to_string(swapped) + " with its bytes swapped); expected little-endian");
    }
    in_.fail_at(4, Fault::version, "version", std::to_string(out_.version) + "; expected 2 or 3");
  }
  const auto bounded = [this](std::string_view what, std::uint64_t least) {
    const std::uint64_t at = in_.offset();
    const auto count = in_.read<std::uint64_t>(what);
    if (count > in_.remaining() / least) {
      in_.fail_at(at, Fault::count, what,
                  std::to_string(count) + "; the " + std::to_string(in_.remaining()) + " bytes left hold at most " +
                      std::to_string(in_.remaining() / least));
    }
    return count;
  };
  tensors_ = bounded("number of tensors", kLeastTensor);
  entries_ = bounded("number of metadata entries", kLeastEntry);
  out_.metadata.reserve(std::min(entries_, kReserved));
  out_.tensors.reserve(std::min(tensors_, kReserved));
}

// A key or a tensor's name: printable ASCII, of bounded length, once in its list.
std::string_view GgufParser::read_name(std::uint64_t most, std::string_view what) {
  const std::uint64_t at = in_.offset();
  const std::string_view name = in_.string(what);
  if (name.empty() || name.size() > most) {
    in_.fail_at(at, Fault::name, what, std::to_string(name.size()) + " bytes long; expected 1 to " + std::to_string(most));
  }
  if (!std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; })) {
    in_.fail_at(at, Fault::name, std::string(what) + " " + shown(name), "expected printable ASCII without spaces");
  }
  if (!names_.insert(name).second) in_.fail_at(at, Fault::duplicate, std::string(what) + " " + shown(name), "it is there twice");
  return name;
}

GgufType GgufParser::read_type(const std::string& subject) {
  const std::uint64_t at = in_.offset();
  const auto number = in_.read<std::uint32_t>(subject);
  if (number > static_cast<std::uint32_t>(GgufType::f64)) {
    in_.fail_at(at, Fault::value_type, subject, "value type " + std::to_string(number) + "; expected 0 to 12");
  }
  return static_cast<GgufType>(number);
}

void GgufParser::read_entry() {
  GgufValue value;
  value.offset = in_.offset();
  value.key = read_name(kMostKey, "key");
  const std::string subject = "key " + shown(value.key);
  value.type = read_type(subject);
  if (value.type == GgufType::array) {
    value.is_array = true;
    const std::uint64_t at = in_.offset();
    value.type = read_type(subject);
    if (value.type == GgufType::array) in_.fail_at(at, Fault::nested_array, subject, "an array of arrays is refused");
    value.count = in_.read<std::uint64_t>(subject);
    const std::uint64_t least = std::max<std::uint64_t>(gguf_type_size(value.type), value.type == GgufType::string ? 8 : 1);
    if (value.count > in_.remaining() / least) {
      in_.fail_at(at + 4, Fault::count, subject,
                  "array of " + std::to_string(value.count) + " elements of " + std::string(gguf_type_name(value.type)) +
                      "; the " + std::to_string(in_.remaining()) + " bytes left hold at most " +
                      std::to_string(in_.remaining() / least));
    }
  }
  read_elements(value, subject);
  out_.metadata.push_back(std::move(value));
}

void GgufParser::read_elements(GgufValue& value, const std::string& subject) {
  const std::uint64_t start = in_.offset();
  if (value.type == GgufType::string) {
    value.strings.reserve(std::min(value.count, kReserved));
    for (std::uint64_t i = 0; i < value.count; ++i) value.strings.push_back(in_.string(subject));
  } else {
    in_.take(value.count * gguf_type_size(value.type), subject);  // the count is bounded by the bytes left
  }
  value.bytes = bytes_.subspan(start, in_.offset() - start);
  if (value.type != GgufType::boolean) return;
  for (std::uint64_t i = 0; i < value.count; ++i) {
    if (value.bytes[i] > 1) {
      in_.fail_at(start + i, Fault::boolean, subject, "boolean " + std::to_string(value.bytes[i]) + "; expected 0 or 1");
    }
  }
}

void GgufParser::read_alignment() {
  const GgufValue* value = out_.find("general.alignment");
  names_.clear();
  if (value == nullptr) return;
  const std::string subject = "key 'general.alignment'";
  if (value->type != GgufType::u32 || value->is_array) {
    in_.fail_at(value->offset, Fault::alignment, subject, "expected a u32");
  }
  out_.alignment = value->element<std::uint32_t>(0);
  if (!std::has_single_bit(out_.alignment) || out_.alignment < kLeastAlignment || out_.alignment > kMostAlignment) {
    in_.fail_at(value->offset, Fault::alignment, subject,
                std::to_string(out_.alignment) + "; expected a power of two from 8 to 1048576");
  }
}

std::vector<std::uint64_t> GgufParser::read_dimensions(const std::string& subject) {
  const std::uint64_t at = in_.offset();
  const auto rank = in_.read<std::uint32_t>(subject);
  if (rank == 0 || rank > kGgufDimensions) {
    in_.fail_at(at, Fault::dimensions, subject, std::to_string(rank) + " dimensions; expected 1 to 4");
  }
  std::vector<std::uint64_t> dims(rank);
  for (std::uint64_t& dim : dims) {
    const std::uint64_t here = in_.offset();
    dim = in_.read<std::uint64_t>(subject);
    if (dim == 0) in_.fail_at(here, Fault::dimensions, subject, "a dimension of zero");
  }
  return dims;
}

DType GgufParser::read_tensor_type(const std::string& subject) {
  const std::uint64_t at = in_.offset();
  const auto number = in_.read<std::uint32_t>(subject);
  if (const auto dtype = gguf_dtype(number)) return *dtype;
  const std::string_view name = foreign_gguf_type(number);
  std::string known;
  for (const StoredType& type : kStoredTypes) {
    if (type.gguf >= 0) known.append(known.empty() ? "" : ", ").append(dtype_name(type.dtype));
  }
  in_.fail_at(at, Fault::tensor_type, subject,
              (name.empty() ? "unknown type " + std::to_string(number) : "type " + std::string(name) + " has no kernel here") +
                  "; expected one of " + known);
}

void GgufParser::read_tensor() {
  StoredTensor tensor;
  tensor.file = in_.file();
  const std::uint64_t start = in_.offset();
  tensor.name = read_name(kMostTensorName, "tensor");
  const std::string subject = "tensor " + shown(tensor.name);
  const std::vector<std::uint64_t> dims = read_dimensions(subject);
  tensor.dtype = read_tensor_type(subject);
  const auto numbers = static_cast<std::uint64_t>(dtype_numbers(tensor.dtype));
  if (dims.front() % numbers != 0) {
    in_.fail_at(start, Fault::block_shape, subject,
                "rows of " + std::to_string(dims.front()) + " elements; " + std::string(dtype_name(tensor.dtype)) +
                    " asks for a multiple of " + std::to_string(numbers));
  }
  const auto elements = checked_product(dims);
  const auto size = elements ? checked_multiply(*elements / numbers, dtype_size(tensor.dtype)) : std::nullopt;
  if (!size) in_.fail_at(start, Fault::overflow, subject, "its dimensions' product leaves 64 bits");
  tensor.shape.assign(dims.rbegin(), dims.rend());
  const std::uint64_t at = in_.offset();
  declared_.push_back({at, in_.read<std::uint64_t>(subject), *size});
  out_.tensors.push_back(std::move(tensor));
}

// Tensors lie one after the other, each padded to the alignment.
void GgufParser::check_offset(std::size_t index, std::uint64_t expected) const {
  const Declared& declared = declared_[index];
  if (declared.relative == expected) return;
  Fault fault = declared.relative < expected ? Fault::overlap : Fault::hole;
  if (declared.relative % out_.alignment != 0) fault = Fault::misaligned;
  in_.fail_at(declared.at, fault, "tensor " + shown(out_.tensors[index].name),
              "offset " + std::to_string(declared.relative) + " in the data; expected " + std::to_string(expected) +
                  ", where the preceding tensor ends (alignment " + std::to_string(out_.alignment) + ")");
}

void GgufParser::place_tensors() {
  out_.data_offset = *checked_align(in_.offset(), out_.alignment);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < out_.tensors.size(); ++i) {
    StoredTensor& tensor = out_.tensors[i];
    check_offset(i, next);
    const std::string subject = "tensor " + shown(tensor.name);
    const auto begin = checked_add(out_.data_offset, next);
    const auto end = begin ? checked_add(*begin, declared_[i].size) : std::nullopt;
    const auto padded = end ? checked_align(declared_[i].size + next, out_.alignment) : std::nullopt;
    if (!padded) in_.fail_at(declared_[i].at, Fault::overflow, subject, "the sum of the tensors' sizes leaves 64 bits");
    if (*end > bytes_.size()) {
      in_.fail_at(declared_[i].at, Fault::outside_file, subject,
                  std::to_string(declared_[i].size) + " bytes at byte " + std::to_string(*begin) + " end at " +
                      std::to_string(*end) + "; the file has " + std::to_string(bytes_.size()));
    }
    tensor.offset = *begin;
    tensor.bytes = bytes_.subspan(*begin, declared_[i].size);
    next = *padded;
  }
}

}  // namespace

const GgufValue* GgufContents::find(std::string_view key) const noexcept {
  const auto found = std::find_if(metadata.begin(), metadata.end(), [key](const GgufValue& value) { return value.key == key; });
  return found == metadata.end() ? nullptr : &*found;
}

GgufContents parse_gguf(std::span<const std::uint8_t> bytes, const std::string& file) {
  return GgufParser(bytes, file).parse();
}

}  // namespace assay
