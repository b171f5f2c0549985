#include "harness/interop/import/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "engine/files/checked.h"
#include "golden/hdf5.h"

namespace assay {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMostAxes = 8;

struct Type {
  std::string_view descr;
  std::optional<DType> dtype;
  std::size_t element;
};

constexpr std::array<Type, 6> kTypes{{{"<f2", DType::f16, 2},
                                      {"<f4", DType::f32, 4},
                                      {"<f8", DType::f64, 8},
                                      {"<i4", DType::i32, 4},
                                      {"<i8", DType::i64, 8},
                                      {"<u2", {}, 2}}};

// A Python dictionary of exactly three entries: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class Dictionary {
 public:
  Dictionary(std::string_view text, std::uint64_t offset, const Where& where) : text_(text), offset_(offset), where_(where) {}

  ArrayInfo read() {
    expect('{');
    for (int entry = 0; entry < 3; ++entry) read_entry();
    accept(',');
    expect('}');
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (text_.substr(at_) != "\n") fail(Fault::member, "expected spaces and a line's end behind the dictionary");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(Fault fault, const std::string& why) const {
    throw ModelFileError(fault, where_, "header, byte " + std::to_string(offset_ + at_) + ": " + why);
  }

  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(Fault::member, std::string("expected '") + c + "'");
  }

  std::string_view string() {
    expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail(Fault::member, "a string without end");
    const std::string_view value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }

  void read_entry() {
    if (!seen_.empty()) expect(',');
    next();
    const std::size_t start = at_;
    const std::string_view key = string();
    expect(':');
    next();
    if (std::ranges::find(seen_, key) != seen_.end()) {
      at_ = start;
      fail(Fault::duplicate, shown(key) + " is there twice");
    }
    seen_.push_back(key);
    if (key == "descr") return read_type();
    if (key == "fortran_order") return read_order();
    if (key == "shape") return read_shape();
    at_ = start;
    fail(Fault::member, "expected descr, fortran_order or shape, not " + shown(key));
  }

  void read_type() {
    const std::size_t start = at_;
    if (next() != '\'') fail(Fault::tensor_type, "an array of records");
    const std::string_view descr = string();
    const auto* const found = std::ranges::find(kTypes, descr, &Type::descr);
    if (found == kTypes.end()) {
      at_ = start;
      fail(descr.starts_with('>') ? Fault::big_endian : Fault::tensor_type,
           "elements " + shown(descr) + "; expected <f2, <f4, <f8, <i4, <i8 or <u2");
    }
    out_.type = descr;
    out_.dtype = found->dtype;
    out_.element = found->element;
  }

  void read_order() {
    constexpr std::string_view kC = "False";
    if (text_.substr(at_).starts_with("True")) {
      fail(Fault::feature, "Fortran order is not read; write numpy.ascontiguousarray(...)");
    }
    if (!text_.substr(at_).starts_with(kC)) fail(Fault::member, "expected True or False");
    at_ += kC.size();
  }

  void read_shape() {
    expect('(');
    std::vector<std::uint64_t> dims;
    while (next() != ')') {
      if (!dims.empty()) expect(',');
      if (next() == ')') break;
      std::uint64_t dim = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (error == std::errc::result_out_of_range) fail(Fault::overflow, "a length that leaves 64 bits");
      if (error != std::errc()) fail(Fault::member, "expected a length");
      if (dims.size() == kMostAxes) fail(Fault::dimensions, "more than 8 axes");
      at_ = static_cast<std::size_t>(end - text_.data());
      dims.push_back(dim);
      if (dims.size() == 1 && next() != ',') fail(Fault::member, "expected ','");
    }
    expect(')');
    const auto elements = checked_product(dims);
    if (!elements) fail(Fault::overflow, "the product of its shape leaves 64 bits");
    if (*elements > kMaxDatasetElements) fail(Fault::count, std::to_string(*elements) + " elements; expected at most 2^29");
    out_.shape.assign(dims.begin(), dims.end());
  }

  std::string_view text_;
  std::uint64_t offset_;
  const Where& where_;
  std::size_t at_ = 0;
  std::vector<std::string_view> seen_;
  ArrayInfo out_;
};

}  // namespace

NpyHeader parse_npy_header(std::span<const std::uint8_t> start, const Where& where) {
  const auto fail = [&where](Fault fault, const std::string& why) { throw ModelFileError(fault, where, why); };
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.size() < kMagic.size() + 4) fail(Fault::truncated, std::to_string(text.size()) + " bytes are no .npy header");
  if (!text.starts_with(kMagic)) fail(Fault::magic, "no .npy header");
  const int major = start[6];
  const int minor = start[7];
  if ((major != 1 && major != 2) || minor != 0) {
    fail(Fault::version, ".npy version " + std::to_string(major) + "." + std::to_string(minor) + "; expected 1.0 or 2.0");
  }
  const std::uint64_t before = major == 1 ? 10 : 12;
  if (text.size() < before) fail(Fault::truncated, std::to_string(text.size()) + " bytes are no .npy header");
  std::uint32_t length = 0;
  std::memcpy(&length, start.data() + 8, before - 8);
  if (length > kMostNpyHeader - before || length > text.size() - before) {
    fail(length > kMostNpyHeader - before ? Fault::header_length : Fault::truncated,
         "header of " + std::to_string(length) + " bytes; expected at most " +
             std::to_string(std::min<std::uint64_t>(kMostNpyHeader, text.size()) - before));
  }
  return {Dictionary(text.substr(before, length), before, where).read(), before + length};
}

}  // namespace assay
