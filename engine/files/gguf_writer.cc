#include "engine/files/gguf_writer.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "engine/files/checked.h"
#include "golden/output_rule.h"

namespace assay {
namespace {

template <class T>
void append(std::vector<std::uint8_t>& out, T value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

void append(std::vector<std::uint8_t>& out, std::string_view text) {
  append(out, static_cast<std::uint64_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
}

void check_name(std::string_view name, std::size_t most) {
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (name.empty() || name.size() > most || !printable) throw std::logic_error("GGUF: " + shown(name) + " is no name");
}

}  // namespace

GgufWriter::GgufWriter(const std::filesystem::path& path, std::uint32_t alignment)
    : file_(path, kGgufModel), alignment_(alignment) {
  if (!std::has_single_bit(alignment) || alignment < 8 || alignment > (1U << 20)) {
    throw std::logic_error("GGUF: alignment " + std::to_string(alignment) + "; expected a power of two from 8 to 1048576");
  }
  if (alignment != 32) add("general.alignment", alignment);
}

void GgufWriter::add_raw(std::string_view key, GgufType type, bool is_array, std::uint64_t count,
                         std::span<const std::uint8_t> bytes) {
  check_name(key, 65535);
  if (begun_) throw std::logic_error("GGUF: key " + shown(key) + " comes after begin()");
  if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) {
    throw std::logic_error("GGUF: key " + shown(key) + " is there already");
  }
  keys_.emplace_back(key);
  ++entries_;
  append(metadata_, key);
  if (is_array) append(metadata_, static_cast<std::uint32_t>(GgufType::array));
  append(metadata_, static_cast<std::uint32_t>(type));
  if (is_array) append(metadata_, count);
  metadata_.insert(metadata_.end(), bytes.begin(), bytes.end());
}

void GgufWriter::add_string(std::string_view key, std::string_view value) {
  std::vector<std::uint8_t> bytes;
  append(bytes, value);
  add_raw(key, GgufType::string, false, 1, bytes);
}

void GgufWriter::add_strings(std::string_view key, std::span<const std::string_view> values) {
  std::vector<std::uint8_t> bytes;
  for (const std::string_view value : values) append(bytes, value);
  add_raw(key, GgufType::string, true, values.size(), bytes);
}

void GgufWriter::add_value(const GgufValue& value) {
  if (value.key == "general.alignment") return;  // this file has its own
  add_raw(value.key, value.type, value.is_array, value.count, value.bytes);
}

void GgufWriter::declare(std::string_view name, DType dtype, std::span<const std::int64_t> shape) {
  check_name(name, 63);
  const std::string subject = "GGUF: tensor " + shown(name);
  const auto type = gguf_tensor_type(dtype);
  if (begun_) throw std::logic_error(subject + " comes after begin()");
  if (!type) throw std::logic_error(subject + ": the format has no " + std::string(dtype_name(dtype)));
  const bool known = std::any_of(tensors_.begin(), tensors_.end(), [name](const Tensor& tensor) { return tensor.name == name; });
  if (known) throw std::logic_error(subject + " is there already");
  const bool positive = std::all_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim > 0; });
  if (shape.empty() || shape.size() > 4 || !positive || shape.back() % dtype_numbers(dtype) != 0) {
    throw std::logic_error(subject + ": its shape is none that " + std::string(dtype_name(dtype)) + " can have");
  }
  const std::vector<std::uint64_t> dims(shape.begin(), shape.end());
  const auto elements = checked_product(dims);
  const auto size =
      elements ? checked_multiply(*elements / static_cast<std::uint64_t>(dtype_numbers(dtype)), dtype_size(dtype)) : std::nullopt;
  if (!size) throw std::logic_error(subject + ": its size leaves 64 bits");
  tensors_.push_back({std::string(name), *type, {shape.begin(), shape.end()}, *size});
}

void GgufWriter::begin() {
  if (begun_) throw std::logic_error("GGUF: begin() twice");
  begun_ = true;
  std::vector<std::uint8_t> header{'G', 'G', 'U', 'F'};
  append(header, std::uint32_t{3});
  append(header, static_cast<std::uint64_t>(tensors_.size()));
  append(header, entries_);
  header.insert(header.end(), metadata_.begin(), metadata_.end());
  std::uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    append(header, std::string_view(tensor.name));
    append(header, static_cast<std::uint32_t>(tensor.shape.size()));
    std::for_each(tensor.shape.rbegin(), tensor.shape.rend(), [&header](std::int64_t dim) { append(header, dim); });
    append(header, tensor.type);
    append(header, offset);
    const auto end = checked_add(offset, tensor.size);
    const auto next = end ? checked_align(*end, alignment_) : std::nullopt;
    if (!next) throw std::logic_error("GGUF: the sum of the tensors' sizes leaves 64 bits");
    offset = *next;
  }
  file_.write(header);
  position_ = header.size();
  pad();
}

void GgufWriter::pad() {
  const std::vector<std::uint8_t> zeros(*checked_align(position_, alignment_) - position_);
  file_.write(zeros);
  position_ += zeros.size();
}

void GgufWriter::write(std::span<const std::uint8_t> bytes) {
  if (!begun_) throw std::logic_error("GGUF: bytes before begin()");
  while (!bytes.empty()) {
    if (current_ == tensors_.size()) throw std::logic_error("GGUF: more bytes than the declared tensors have");
    const std::uint64_t missing = tensors_[current_].size - written_;
    const auto piece = bytes.first(std::min<std::uint64_t>(missing, bytes.size()));
    file_.write(piece);
    position_ += piece.size();
    written_ += piece.size();
    bytes = bytes.subspan(piece.size());
    if (written_ < tensors_[current_].size) continue;
    pad();
    written_ = 0;
    ++current_;
  }
}

void GgufWriter::finish() {
  if (!begun_) begin();
  if (current_ != tensors_.size()) {
    throw std::logic_error("GGUF: tensor " + shown(tensors_[current_].name) + " has " + std::to_string(written_) + " of its " +
                           std::to_string(tensors_[current_].size) + " bytes");
  }
  file_.commit();
}

}  // namespace assay
