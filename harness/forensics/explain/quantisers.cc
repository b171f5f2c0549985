// Quantisers to q8_0 and q8_k that do one thing otherwise.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "harness/forensics/explain/hypothesis.h"
#include "harness/verdict/block_format.h"
#include "reference/convert.h"

namespace assay::why {
namespace {

float nearest_even(float x) {
  return std::nearbyint(x);
}
float half_away(float x) {
  return std::round(x);
}
float cut_off(float x) {
  return std::trunc(x);
}

struct Quantiser {
  const char* name;
  const char* kind;
  const char* words;
  float (*round)(float) = nullptr;  // nothing: the op's own
  float codes = 127;
  bool by_stored = false;     // the scale is divided by as it is stored
  bool with_sign = false;     // the largest number, not the largest magnitude
  std::size_t counted = 256;  // elements of a block among which the largest is looked for
  float most = 127;
};
constexpr Quantiser kQuantisers[] = {
    {"codes-cut-off", "rounding", "codes are cut off, not rounded", cut_off},
    {"codes-half-away", "rounding", "a code in the middle of two is rounded away from zero", half_away},
    {"codes-half-even", "rounding", "a code in the middle of two is rounded to the even one", nearest_even},
    {"codes-by-128", "scale", "the largest magnitude becomes 128, not 127", nullptr, 128},
    {"by-stored-scale", "scale", "numbers are divided by the scale as it is stored", nullptr, 127, true},
    {"largest-with-sign", "sign", "the largest number is looked for, not the largest magnitude", nullptr, 127, false, true},
    {"largest-of-half", "tail", "the largest is looked for in the first half of a block", nullptr, 127, false, false, 0},
    {"codes-to-126", "range", "codes end at 126", nullptr, 127, false, false, 256, 126}};

float largest_of(const Quantiser& way, std::span<const float> x, bool signed_scale) {
  float largest = 0;
  const std::size_t counted = way.counted == 0 ? x.size() / 2 : std::min(way.counted, x.size());
  for (const float value : x.first(counted)) {
    const bool larger = way.with_sign ? value > largest : std::fabs(value) > std::fabs(largest);
    if (larger) largest = signed_scale ? value : std::fabs(value);
  }
  return largest;
}

// A block's scale and codes: of q8_k -127 stands for the largest, of q8_0 127 for its magnitude. `encodes`: for files.
void quantise(const Quantiser& way, std::span<const float> x, DType dtype, bool encodes, std::uint8_t* block) {
  const bool wide = dtype == DType::q8_k;
  const float largest = largest_of(way, x, wide);
  float scale = wide ? -way.codes / largest : way.codes / largest;
  float d = largest / way.codes;
  if (encodes) scale = 1 / d;
  if (wide) d = 1 / scale;
  const std::uint16_t half = reference::narrow<reference::Half>(d);
  if (way.by_stored) {
    const double stored = wide ? static_cast<double>(d) : element_as_double(DType::f16, &half);
    scale = static_cast<float>(1 / stored);
  }
  const bool empty = largest == 0 || !std::isfinite(scale);
  if (empty) scale = 0;
  if (empty && wide) d = 0;
  std::memcpy(block, wide ? static_cast<const void*>(&d) : &half, wide ? sizeof d : sizeof half);
  std::uint8_t* const codes = block + (wide ? sizeof d : sizeof half);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float product = x[i] * scale;
    const float code = way.round != nullptr ? way.round(product) : encodes ? half_away(product) : nearest_even(product);
    codes[i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(std::clamp(code, -128.0F, way.most)));
  }
  renew_derived(dtype, block);
}

}  // namespace

void add_quantisers(const Op& op, Cases cases, Hypotheses& all) {
  const DType dtype = cases.front().outputs().front()->dtype;
  const TensorSpec& source = *cases.front().inputs().front();
  if ((dtype != DType::q8_0 && dtype != DType::q8_k) || source.dtype != DType::f32 ||
      std::string_view(op.family->name) == "product")
    return;
  const bool encodes = std::string_view(op.name).starts_with("encode");
  for (const Quantiser& way : kQuantisers) {
    all.push_back({way.name, way.kind, way.words, Law::rounding, 1, [&way, dtype, encodes](const Evidence& one) {
                     Prediction said{one.call->expected, {}};
                     std::vector<std::uint8_t>& bytes = said.outputs.front().bytes;
                     const std::span<const float> x(one.call->inputs.front().as<float>(),
                                                    one.call->inputs.front().bytes.size() / sizeof(float));
                     const auto numbers = static_cast<std::size_t>(dtype_numbers(dtype));
                     for (std::size_t block = 0; block < x.size() / numbers; ++block)
                       quantise(way, x.subspan(block * numbers, numbers), dtype, encodes, &bytes[block * dtype_size(dtype)]);
                     return std::optional(said);
                   }});
  }
}

}  // namespace assay::why
