// Bytes held to bytes: of exact outputs, and of two calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/verdict/compare.h"
#include "harness/verdict/element_text.h"

namespace assay {
namespace {

// The exact bytes of those outputs that were computed.
Kept known(const TensorSpec& spec, const reference::Expected& expected) {
  if (expected.bits_only.empty()) return whole(spec, expected.bytes);
  Kept kept;
  const std::size_t size = dtype_size(spec.dtype);
  for (std::size_t i = 0; i < expected.bits_only.size(); ++i) {
    if (expected.bits_only[i] != 0) continue;
    kept.index.push_back(static_cast<std::int64_t>(i));
    kept.values.bytes.insert(kept.values.bytes.end(), &expected.bytes[i * size], &expected.bytes[i * size] + size);
  }
  kept.values.dtype = spec.dtype;
  kept.values.shape = {static_cast<std::int64_t>(kept.index.size())};
  return kept;
}

// How many of the outputs that were computed have their bytes; none: one has others.
std::optional<std::int64_t> equal_where_known(const TensorSpec& spec, const Array& y, const reference::Expected& expected) {
  if (expected.bits_only.empty()) return y.bytes == expected.bytes ? std::optional(y.elements()) : std::nullopt;
  const std::size_t size = dtype_size(spec.dtype);
  std::int64_t known = 0;
  for (std::size_t i = 0; i < expected.bits_only.size(); ++i) {
    if (expected.bits_only[i] != 0) continue;
    if (std::memcmp(&y.bytes[i * size], &expected.bytes[i * size], size) != 0) return std::nullopt;
    ++known;
  }
  return known;
}

}  // namespace

Comparison compare_bytes(const TensorSpec& spec, const Array& y, const Kept& want, bool any_nan) {
  Comparison result;
  const std::size_t size = dtype_size(spec.dtype);
  const std::int64_t count = want.values.elements();
  if (want.index.empty() && y.bytes == want.values.bytes) {  // as nearly always
    result.compared = count;
    return result;
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t i = want.index.empty() ? k : want.index[static_cast<std::size_t>(k)];
    const std::uint8_t* got = y.bytes.data() + static_cast<std::size_t>(i) * size;
    const std::uint8_t* expected = want.values.bytes.data() + static_cast<std::size_t>(k) * size;
    ++result.compared;
    if (result.worst || std::memcmp(got, expected, size) == 0) continue;
    if (any_nan && std::isnan(element_as_double(spec.dtype, got)) && std::isnan(element_as_double(spec.dtype, expected)))
      continue;
    Miss miss;
    miss.index = i;
    miss.got = describe_element(spec.dtype, got);
    miss.want = describe_element(spec.dtype, expected);
    if (is_block(spec.dtype)) {
      const auto at = static_cast<std::size_t>(std::mismatch(got, got + size, expected).first - got);
      miss.got = fmt::format("byte {} of its {}: 0x{:02x}", at, size, got[at]);
      miss.want = fmt::format("0x{:02x}", expected[at]);
    }
    miss.margin = std::numeric_limits<double>::infinity();
    result.worst = miss;
    result.margin = miss.margin;
  }
  for (std::int64_t k = 0; result.worst && k < count; ++k) {
    const std::int64_t i = want.index.empty() ? k : want.index[static_cast<std::size_t>(k)];
    result.tolerances.add(spec.dtype, y.bytes.data() + static_cast<std::size_t>(i) * size,
                          want.values.bytes.data() + static_cast<std::size_t>(k) * size);
  }
  return result;
}

Comparison compare_computed(const TensorSpec& spec, const Array& y, const reference::Expected& expected, bool any_nan) {
  const auto equal = equal_where_known(spec, y, expected);
  if (!equal) return compare_bytes(spec, y, known(spec, expected), any_nan);
  Comparison same;  // as nearly always
  same.compared = *equal;
  return same;
}

Kept whole(const TensorSpec& spec, const std::vector<std::uint8_t>& bytes) {
  Kept kept;
  kept.values.dtype = spec.dtype;
  kept.values.shape = spec.shape;
  kept.values.bytes = bytes;
  return kept;
}

std::string other_bits(const Signature& signature, const std::vector<Array>& first, const std::vector<Array>& other,
                       bool any_nan) {
  std::size_t o = 0;
  for (const TensorSpec& spec : signature.tensors) {
    if (spec.role == Direction::in) continue;
    const Array& one = first[o];
    const Array& again = other[o++];
    if (one.bytes == again.bytes) continue;
    TensorSpec as_made = spec;  // a call that runs beside another may have other sizes
    as_made.shape = one.shape;
    const Comparison found = compare_bytes(as_made, again, whole(as_made, one.bytes), any_nan);
    if (found.worst) return describe_miss(as_made, *found.worst);
  }
  return {};
}

void canonicalise_nans(Array& array) {
  const std::uint32_t nan = array.dtype == DType::f16 ? 0x7e00U : (array.dtype == DType::bf16 ? 0x7fc0U : 0x7fc00000U);
  if (array.dtype != DType::f32 && array.dtype != DType::f16 && array.dtype != DType::bf16) return;
  const std::size_t size = dtype_size(array.dtype);
  for (std::size_t at = 0; at < array.bytes.size(); at += size) {
    if (std::isnan(element_as_double(array.dtype, &array.bytes[at]))) std::memcpy(&array.bytes[at], &nan, size);
  }
}

}  // namespace assay
