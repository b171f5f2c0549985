// Parameters of calls drawn from seeds, across what steers the kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "reference/bounds.h"
#include "reference/ops/op.h"

namespace assay {

// The draws of one case: a stream that no tensor uses.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint32_t bound);
  template <class List>
  const auto& of(const List& list) {
    return list[below(static_cast<std::uint32_t>(list.size()))];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

// Operations and exps of a call, in operations.
double steps_of(const Cost& cost);

// What a call costs the bench, in operations, its bytes among them; infinity where it cannot be described. Of one that costs more than
// `enough` it may be less, but not less than that.
double work_of(const Op& op, const Params& params, double enough = std::numeric_limits<double>::infinity());

inline constexpr double kWholeTruth = 1 << 23;  // above that the reference computes a sample
inline constexpr double kRandomWork = 1 << 22;  // of a random case
inline constexpr double kPairWork = 1 << 23;    // of a case in which two sizes are long
inline constexpr double kSingleWork = 1e8;      // of one in which one is
inline constexpr double kLongWork = 4e9;        // of a case of ci/long

// Sizes and choices of a call that costs at most `work`; those in `fixed` as they are, whatever it costs then.
Params draw_params(const Op& op, const ShapeSpace& space, Draws& draws, double work, const Params& fixed = {});

// Rounded up to whole units.
inline std::int64_t in_units(std::int64_t value, const Size& size) {
  return reference::ceil_div(value, size.unit) * size.unit;
}
// The dense value of a stride.
std::int64_t dense_stride(const Size& stride, const Params& params);

// A call whose sizes are what `value` says of them, every choice the first, mended.
Params sized(const ShapeSpace& space, const std::function<std::int64_t(const Size& size)>& value);
// One of little else, of which some input has rows of `length` numbers; none: no size is that, within this work.
Params with_long_rows(const Op& op, std::int64_t length, double work);

}  // namespace assay
