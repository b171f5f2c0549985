#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/bounds.h"
#include "reference/outputs.h"
#include "reference/power.h"
#include "reference/rope.h"

namespace assay::reference {

// Its bound leaves no room for truncation, and cosines next to 1 all round up: z has nothing to add and would misjudge.
const Contract kRopeTableContract{
    "0 <= position < 2^24; 1 <= theta <= 2^40; inv_freq finite, magnitude <= 16", Exactness::bounded,
    "ulp(y)/2 + 2^-50 |y|, y the sine or cosine of the recipe's own angle; 0 where y = 0", BiasUnit::none};

namespace {

// The angles of one position, as the recipes define them to the bit. In fp64 the product of a position below 2^24 and
// a float is exact, so its rounding to float is the only one.
class Angles {
 public:
  explicit Angles(const RopeTableArgs& args) : args_(args) {
    const auto d = static_cast<double>(2 * args.pairs);
    switch (args.recipe) {
      case ASSAY_ROPE_F64:  // theta^(-2i/d), fp64
        for (std::int64_t i = 0; i < args.pairs; ++i) factors_.push_back(power(args.theta, -static_cast<double>(2 * i) / d));
        break;
      case ASSAY_ROPE_HF:  // fp32(1 / fp32(theta^fp32(2i/d)))
        for (std::int64_t i = 0; i < args.pairs; ++i) {
          const float exponent = static_cast<float>(2 * i) / static_cast<float>(2 * args.pairs);
          const auto p = static_cast<float>(power(args.theta, static_cast<double>(exponent)));
          factors_.push_back(static_cast<double>(1.0F / p));
        }
        break;
      case ASSAY_ROPE_GGML:  // fp32(theta^(-2/d)), the step from pair to pair
        factors_.push_back(static_cast<double>(static_cast<float>(power(args.theta, -2.0 / d))));
        break;
      case ASSAY_ROPE_FREQS:
        for (std::int64_t i = 0; i < args.pairs; ++i) factors_.push_back(static_cast<double>(args.inv_freq[i]));
        break;
      default:
        throw std::invalid_argument("rope_table: recipe = " + std::to_string(args.recipe) + ", expected 0 .. 3");
    }
  }

  void of(std::int32_t position, std::vector<double>& angles) const {
    angles.clear();
    auto iterated = static_cast<float>(position);  // ggml: a_0, then a_{i+1} = fp32(a_i * step)
    for (std::int64_t i = 0; i < args_.pairs; ++i) {
      if (args_.recipe == ASSAY_ROPE_GGML) {
        angles.push_back(static_cast<double>(iterated));
        iterated = static_cast<float>(static_cast<double>(iterated) * factors_[0]);
        continue;
      }
      const double angle = static_cast<double>(position) * factors_[static_cast<std::size_t>(i)];
      angles.push_back(args_.recipe == ASSAY_ROPE_F64 ? angle : static_cast<double>(static_cast<float>(angle)));
    }
  }

 private:
  const RopeTableArgs& args_;
  std::vector<double> factors_;
};

void check_domain(const RopeTableArgs& args) {
  if (args.recipe != ASSAY_ROPE_FREQS && !(args.theta >= 1 && args.theta <= 0x1p40))
    throw std::invalid_argument("rope_table: theta = " + std::to_string(args.theta) + ", expected 1 .. 2^40");
  for (std::int64_t j = 0; j < args.rows; ++j)
    if (args.positions[j] < 0 || args.positions[j] >= 1 << 24)
      throw std::invalid_argument("rope_table: position " + std::to_string(args.positions[j]) + ", expected 0 .. 2^24 - 1");
}

}  // namespace

void rope_table(const RopeTableArgs& args, Expected& cos, Expected& sin) {
  resize_bounded(cos, args.rows * args.pairs);
  resize_bounded(sin, args.rows * args.pairs);
  if (args.rows == 0 || args.pairs == 0) return;
  check_domain(args);
  const Angles table(args);
  std::vector<double> angles;
  for (std::int64_t j = 0; j < args.rows; ++j) {
    table.of(args.positions[j], angles);
    for (std::int64_t i = 0; i < args.pairs; ++i) {
      // long double (64 bits or more) carries sine and cosine past fp64, reduced by the full pi at any angle.
      const auto angle = static_cast<long double>(angles[static_cast<std::size_t>(i)]);
      const auto cosine = static_cast<double>(std::cos(angle));
      const auto sine = static_cast<double>(std::sin(angle));
      set_bounded(cos, j * args.pairs + i, cosine, rope_table_bound(cosine));
      set_bounded(sin, j * args.pairs + i, sine, rope_table_bound(sine));
    }
  }
}

}  // namespace assay::reference
