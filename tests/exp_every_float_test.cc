// The exp kernels on all 2^32 floats: the error of the scalar one in ulp, and every other variant's bits.
//
// Where the specification gives one value (NaN, overflow, underflow to 0, exp(x) = 1 next to 0) every variant is held to
// it. Elsewhere the scalar kernel is held to fp64 and the others to the scalar one. The scalar kernel computes the
// constant regions too slowly to wait for: it gets every 61st block of them, or all with ASSAY_EXHAUSTIVE=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/op_tables.h"

namespace assay::exp_every_float_test {
namespace {

constexpr std::uint32_t kBlock = 1u << 14;
constexpr std::uint32_t kBlocks = 1u << 18;  // kBlock * kBlocks = 2^32
constexpr double kStatedError = 0.939;
constexpr std::uint32_t kNan = 0x7fc00000u;

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint32_t kBlockStride = 31;  // sanitisers slow the kernels tenfold
#else
constexpr std::uint32_t kBlockStride = 1;
#endif

// The bits of exp(x) where the specification fixes them without arithmetic.
std::optional<std::uint32_t> fixed_result(float x) {
  if (std::isnan(x)) return kNan;
  if (x > 0x1.62e42ep6f) return std::bit_cast<std::uint32_t>(INFINITY);
  if (x < -104.0f) return 0u;
  if (std::fabs(x) < 0x1p-26f) return std::bit_cast<std::uint32_t>(1.0f);
  return std::nullopt;
}

std::uint32_t canonical_bits(float y) {
  return std::isnan(y) ? kNan : std::bit_cast<std::uint32_t>(y);
}

// |y - truth| in units of the last place of an f32 at the truth, which is normal in f64. By the exponent's bits: frexp
// and ldexp would take longer than both exponentials.
double error_in_ulp(float y, double truth) {
  const int exponent = std::max(static_cast<int>(std::bit_cast<std::uint64_t>(truth) >> 52) - 1023, -126);
  const double units_per_one = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 23 - exponent) << 52);
  return std::fabs(static_cast<double>(y) - truth) * units_per_one;
}

struct Outcome {
  std::uint64_t measured = 0;  // results held to fp64
  std::uint64_t compared = 0;  // results held to a fixed value or to the scalar kernel's
  double worst = 0;            // ulp
  float worst_at = 0;
  std::string failure;  // the first one

  void merge(const Outcome& other) {
    measured += other.measured;
    compared += other.compared;
    if (other.worst > worst) {
      worst = other.worst;
      worst_at = other.worst_at;
    }
    if (failure.empty()) failure = other.failure;
  }
};

class Sweep {
 public:
  explicit Sweep(bool exhaustive) : exhaustive_(exhaustive), x_(kBlock), scalar_(kBlock), y_(kBlock) {}

  void block(std::uint32_t index) {
    for (std::uint32_t i = 0; i < kBlock; ++i) x_[i] = std::bit_cast<float>(index * kBlock + i);
    const auto first = fixed_result(x_.front());
    const bool fixed = first.has_value() && first == fixed_result(x_.back());
    for (const AnyKernel& kernel : kernel_tables::exp.kernels) {
      if (kernel.isa == Isa::scalar && fixed && !exhaustive_ && index % 61 != 0) continue;
      if (!isa_supported(kernel.isa)) continue;
      if (fixed) hold_to_fixed(kernel, *first);
    }
    if (!fixed) hold_to_truth();
  }

  Outcome outcome;

 private:
  void run(const AnyKernel& kernel, std::vector<float>& y) {
    const ExpArgs args{.x = x_.data(), .y = y.data(), .n = kBlock};
    if (kernel.run(&args) != ASSAY_OK) fail(kernel.name, 0, "refused its input");
  }

  void fail(const std::string& who, std::uint32_t i, const std::string& what) {
    if (!outcome.failure.empty()) return;
    char x[64];
    std::snprintf(x, sizeof x, " at x = %a (0x%08x)", static_cast<double>(x_[i]), std::bit_cast<std::uint32_t>(x_[i]));
    outcome.failure = who + ": " + what + x;
  }

  void hold_to_fixed(const AnyKernel& kernel, std::uint32_t expected) {
    run(kernel, y_);
    outcome.compared += kBlock;
    std::uint32_t differing = 0;  // the common case, in a loop that vectorises
    for (const float y : y_) differing |= std::bit_cast<std::uint32_t>(y) ^ expected;
    if (differing == 0) return;
    for (std::uint32_t i = 0; i < kBlock; ++i) {
      if (canonical_bits(y_[i]) != expected) fail(kernel.name, i, "not the value that the specification fixes");
    }
  }

  void hold_to_truth() {
    run(kernel_tables::exp.kernels.back(), scalar_);
    for (std::uint32_t i = 0; i < kBlock; ++i) {
      if (const auto expected = fixed_result(x_[i])) {
        if (canonical_bits(scalar_[i]) != *expected) fail("exp_scalar", i, "not the value that the specification fixes");
        ++outcome.compared;
        continue;
      }
      const double error = error_in_ulp(scalar_[i], std::exp(static_cast<double>(x_[i])));
      ++outcome.measured;
      if (!(error <= outcome.worst)) {  // a NaN too
        outcome.worst = error;
        outcome.worst_at = x_[i];
      }
    }
    for (const AnyKernel& kernel : kernel_tables::exp.kernels) {
      if (kernel.isa == Isa::scalar || !isa_supported(kernel.isa)) continue;
      run(kernel, y_);
      outcome.compared += kBlock;
      std::uint32_t differing = 0;
      for (std::uint32_t i = 0; i < kBlock; ++i) {
        differing |= std::bit_cast<std::uint32_t>(y_[i]) ^ std::bit_cast<std::uint32_t>(scalar_[i]);
      }
      if (differing == 0) continue;
      for (std::uint32_t i = 0; i < kBlock; ++i) {
        if (canonical_bits(y_[i]) != canonical_bits(scalar_[i])) fail(kernel.name, i, "other bits than exp_scalar's");
      }
    }
  }

  bool exhaustive_;
  std::vector<float> x_, scalar_, y_;
};

Outcome sweep_all() {
  const char* setting = std::getenv("ASSAY_EXHAUSTIVE");
  const bool exhaustive = setting != nullptr && std::string(setting) == "1";
  std::atomic<std::uint32_t> next{0};
  std::mutex mutex;
  Outcome all;
  const auto work = [&] {
    Sweep sweep(exhaustive);
    for (std::uint32_t i = next++; i < kBlocks / kBlockStride; i = next++) sweep.block(i * kBlockStride);
    const std::lock_guard lock(mutex);
    all.merge(sweep.outcome);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return all;
}

TEST(ExpEveryFloat, StaysWithinTheStatedErrorAndEveryVariantHasTheScalarBits) {
  ASSERT_EQ(kernel_tables::exp.kernels.back().isa, Isa::scalar);
  const Outcome all = sweep_all();
  std::printf("exp: E = %.6f ulp, at x = %a, over %llu results; %llu more held to bits\n", all.worst,
              static_cast<double>(all.worst_at), static_cast<unsigned long long>(all.measured),
              static_cast<unsigned long long>(all.compared));
  RecordProperty("exp_error_ulp", std::to_string(all.worst));
  EXPECT_EQ(all.failure, "");
  EXPECT_LE(all.worst, kStatedError);
  EXPECT_GT(all.worst, 0.5);  // no f32 function does better everywhere: a lower figure means that nothing was measured
  if (kBlockStride == 1) {
    EXPECT_GT(all.measured, 500'000'000u);
  }
  EXPECT_GT(all.compared, 0u);
}

}  // namespace
}  // namespace assay::exp_every_float_test
