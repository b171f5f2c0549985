// Conversions to a narrower type that round in another way.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/forensics/explain/hypothesis.h"

namespace assay::why {

void add_roundings(const Op& op, Cases cases, Hypotheses& all) {
  const Evidence& like = cases.front();
  const TensorSpec& spec = *like.outputs().front();
  const TensorSpec& from = *like.inputs().front();
  const bool narrow = spec.dtype == DType::f16 || spec.dtype == DType::bf16;
  if (!narrow || from.dtype != DType::f32 || spec.elements() != from.elements() ||
      op.contract->exactness != reference::Exactness::exact)
    return;
  struct Way {
    const char* name;
    const char* words;
    bool (*up)(bool above_half, bool half, bool odd);
    bool saturates = false;  // nothing becomes infinite
  };
  static constexpr Way kWays[] = {
      {"truncated", "results are cut off, not rounded", [](bool, bool, bool) { return false; }},
      {"ties-away", "what lies in the middle of two is rounded away from zero",
       [](bool above, bool half, bool) { return above || half; }},
      {"ties-to-zero", "what lies in the middle of two is rounded towards zero", [](bool above, bool, bool) { return above; }},
      {"ties-to-odd", "what lies in the middle of two is rounded to the odd one",
       [](bool above, bool half, bool odd) { return above || (half && !odd); }},
      {"towards-zero", "results are rounded towards zero, what is too large to the largest number",
       [](bool, bool, bool) { return false; }, true},
      {"saturated", "what is too large becomes the largest number",
       [](bool above, bool half, bool odd) { return above || (half && odd); }, true}};
  for (const Way& way : kWays) {
    all.push_back({way.name, "rounding", way.words, Law::rounding, 1, [&way](const Evidence& one) -> std::optional<Prediction> {
                     const TensorSpec& out = *one.outputs().front();
                     const auto& bytes = one.call->inputs.front().bytes;
                     Prediction said{one.call->expected, {}};
                     if (bytes.size() != said.outputs[0].bytes.size() * 2) return std::nullopt;
                     for (std::size_t i = 0; i * 4 < bytes.size(); ++i) {
                       float x = 0;
                       std::memcpy(&x, &bytes[i * 4], 4);
                       if (!std::isfinite(x)) continue;
                       std::uint16_t bits = 0;
                       std::memcpy(&bits, &said.outputs[0].bytes[i * 2], 2);
                       const auto magnitude = [&](int b) {
                         const auto pattern = static_cast<std::uint16_t>(b & 0x7fff);
                         const double value = element_as_double(out.dtype, &pattern);
                         return std::isinf(value) ? (out.dtype == DType::f16 ? 65536.0 : 0x1p128) : value;
                       };
                       const double exact = std::fabs(static_cast<double>(x));
                       int low = bits & 0x7fff;
                       if (magnitude(low) > exact) --low;
                       const double gap = magnitude(low + 1) - magnitude(low);
                       const double part = exact - magnitude(low);
                       if (part == 0) continue;
                       int result = low + (way.up(part > gap / 2, part == gap / 2, (low & 1) != 0) ? 1 : 0);
                       const int infinite = out.dtype == DType::f16 ? 0x7c00 : 0x7f80;
                       if (way.saturates) result = std::min(result, infinite - 1);
                       bits = static_cast<std::uint16_t>((bits & 0x8000) | result);
                       std::memcpy(&said.outputs[0].bytes[i * 2], &bits, 2);
                     }
                     return said;
                   }});
  }
}

}  // namespace assay::why
