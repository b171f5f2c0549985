#include "harness/forensics/explain/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "harness/forensics/explain/block_edits.h"
#include "reference/block_packing.h"

namespace assay::why {
namespace {

enum Kind : int { nan, infinite, negative_zero, zero, denormal, negative, positive, one, large, small };
constexpr const char* kKinds[] = {
    "NaN", "infinite", "-0", "0", "denormal", "negative", "positive", "1", "2^64 or more", "below 2^-64 and not 0"};
static_assert(std::size(kKinds) == kElementKinds);
enum RowKind : int { zeros, begins_with_zeros, constant, no_positive, all_negative, as_before, begins_as_before };
constexpr const char* kRows[] = {"0 throughout",
                                 "0 in its first sixteen and not throughout",
                                 "one number throughout",
                                 "nowhere above 0",
                                 "below 0 throughout",
                                 "the one before it",
                                 "the one before it in its first four"};
enum BlockKind : int { constant_codes, codes_of_127, negative_scales, mixed_signs };
constexpr const char* kBlocks[] = {"of one code throughout", "of the code 127 throughout", "of negative scales alone",
                                   "of a negative scale and no negative minimum"};

constexpr Contents bit(int at, bool holds = true) {
  return static_cast<Contents>(holds) << at;
}

// Where each noun's bits begin.
struct Noun {
  const char* name;
  int first;
  const char* const* words;
  int count;
};
constexpr int kMinimum = 16;
constexpr int kRow = 32;
constexpr int kBlock = 48;
constexpr Noun kNumbers[] = {{"element", 0, kKinds, std::size(kKinds)}, {"row", kRow, kRows, std::size(kRows)}};
constexpr Noun kOfBlocks[] = {{"scale", 0, kKinds, std::size(kKinds)},
                              {"minimum", kMinimum, kKinds, std::size(kKinds)},
                              {"block", kBlock, kBlocks, std::size(kBlocks)}};

double least_normal(DType dtype) {
  return dtype == DType::f16 ? 0x1p-14 : std::numeric_limits<float>::min();
}

Contents kinds_of(double v, double normal) {
  if (std::isnan(v)) return bit(nan);
  const double size = std::fabs(v);
  return bit(infinite, std::isinf(v)) | bit(negative_zero, v == 0 && std::signbit(v)) | bit(zero, v == 0 && !std::signbit(v)) |
         bit(denormal, v != 0 && size < normal) | bit(negative, v < 0) | bit(positive, v > 0) | bit(one, v == 1) |
         bit(large, size >= 0x1p64) | bit(small, v != 0 && size < 0x1p-64);
}

bool repeats(const std::uint8_t* bytes, std::size_t count, std::size_t period) {
  return count > period && std::memcmp(bytes, bytes + period, count - period) == 0;
}

// `all`: what its elements are, together; `leading`: the first sixteen of them.
Contents row_contents(const std::uint8_t* row, const std::uint8_t* before, std::size_t width, std::size_t size, Contents all,
                      Contents leading) {
  constexpr Contents kZeros = bit(zero) | bit(negative_zero);
  const auto same = [&](std::size_t count) { return before != nullptr && std::memcmp(row, before, count * size) == 0; };
  const auto none_is = [&](Contents kinds) { return (all & kinds) == 0; };
  const bool is_zero = none_is(~kZeros);
  const bool above = !none_is(bit(positive) | bit(nan));
  return bit(kRow + zeros, is_zero) | bit(kRow + begins_with_zeros, !is_zero && width > 16 && (leading & ~kZeros) == 0) |
         bit(kRow + constant, repeats(row, width * size, size)) | bit(kRow + no_positive, !above) |
         bit(kRow + all_negative, !above && none_is(kZeros)) | bit(kRow + as_before, same(width)) |
         bit(kRow + begins_as_before, width > 4 && same(4));
}

Contents of_numbers(const Array& array) {
  const std::size_t size = dtype_size(array.dtype);
  const auto width = static_cast<std::size_t>(array.shape.empty() ? 1 : array.shape.back());
  Contents found = 0;
  const std::uint8_t* before = nullptr;
  for (std::size_t at = 0; width > 0 && at + width * size <= array.bytes.size(); at += width * size) {
    const std::uint8_t* const row = &array.bytes[at];
    Contents all = 0;
    Contents leading = 0;
    for (std::size_t i = 0; i < width; ++i) {
      all |= element_kinds(array.dtype, row + i * size);
      if (i < 16) leading = all;
    }
    found |= all;
    found |= row_contents(row, before, width, size, all, leading);
    before = row;
  }
  return found;
}

Contents of_block(const Fields& f, const std::uint8_t* block) {
  const DType scale = f.d_bytes == 4 ? DType::f32 : DType::f16;
  const double d = element_as_double(scale, block + f.d);
  Contents found = kinds_of(d, least_normal(scale));
  if (f.min_bytes > 0) {
    const double min = element_as_double(DType::f16, block + f.min);
    found |=
        kinds_of(min, least_normal(DType::f16)) << kMinimum | bit(kBlock + mixed_signs, std::signbit(d) && !std::signbit(min));
  }
  const std::uint8_t* const codes = block + f.codes;
  const bool is_constant = repeats(codes, static_cast<std::size_t>(f.code_bytes), 1);
  const bool has_signed_scales = f.scale_bytes == 16;  // q6_k
  return found | bit(kBlock + constant_codes, is_constant) | bit(kBlock + codes_of_127, is_constant && codes[0] == 127) |
         bit(kBlock + negative_scales, has_signed_scales && std::all_of(block + f.scales, block + f.scales + f.scale_bytes,
                                                                        [](std::uint8_t s) { return s > 127; }));
}

Contents of_blocks(const Fields& fields, const Array& array) {
  std::vector<std::uint8_t> unpacked;
  if (is_packed(array.dtype)) {
    const std::int64_t k = array.shape.back() * dtype_numbers(fields.dtype);
    const std::int64_t rows = array.elements() / std::max<std::int64_t>(array.shape.back(), 1) * kPackedRows;
    unpacked = reference::unpack_x16(fields.dtype, array.bytes.data(), rows, k);
  }
  const std::vector<std::uint8_t>& bytes = is_packed(array.dtype) ? unpacked : array.bytes;
  Contents found = 0;
  for (std::size_t at = 0; at < bytes.size(); at += dtype_size(fields.dtype)) found |= of_block(fields, &bytes[at]);
  return found;
}

}  // namespace

Contents element_kinds(DType dtype, const std::uint8_t* element) {
  return kinds_of(element_as_double(dtype, element), least_normal(dtype));
}

const char* element_kind(int bit) {
  return kKinds[bit];
}

Contents contents_of(const TensorSpec& spec, const Array& array) {
  if (const Fields* const fields = fields_of(plain_dtype(spec.dtype))) return of_blocks(*fields, array);
  return is_float(spec.dtype) ? of_numbers(array) : 0;
}

std::string contents_words(const TensorSpec& spec, int bit, bool none) {
  const auto word = [&](const Noun& noun) {
    const char* const article = none ? "no" : *noun.name == 'e' ? "an" : "a";
    return fmt::format("{} has {} {} that is {}", spec.name, article, noun.name, noun.words[bit - noun.first]);
  };
  const bool blocks = fields_of(plain_dtype(spec.dtype)) != nullptr;
  for (const Noun& noun : blocks ? std::span<const Noun>(kOfBlocks) : std::span<const Noun>(kNumbers)) {
    if (bit >= noun.first && bit < noun.first + noun.count && (blocks || is_float(spec.dtype))) return word(noun);
  }
  return "";
}

}  // namespace assay::why
