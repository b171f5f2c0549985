// A CPU without FMA: the C library's call gives the instruction's bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "kernels/simd/fours.h"

namespace assay::fma_calls_test {
namespace {

TEST(FmaCalls, GiveTheBitsOfTheInstruction) {
#if defined(__x86_64__) && !defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "this CPU has no FMA";
  constexpr int kRounds = 10000;
  std::mt19937 words(1);
  const auto any = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(words())); };
  for (int round = 0; round < kRounds; ++round) {
    float a[16], b[16], c[16], by_calls[16];
    for (int i = 0; i < 16; ++i) {
      by_calls[i] = a[i] = any();
      b[i] = any();
      c[i] = round % 2 == 0 ? any() : -a[i] * b[i];  // what the product's rounding lost is left
    }
    fma_by_calls(by_calls, b, c);
    fma_lanes(a, b, c);
    for (int i = 0; i < 16; ++i) {
      const bool same = std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(by_calls[i]);
      ASSERT_TRUE(same || (std::isnan(a[i]) && std::isnan(by_calls[i]))) << b[i] << " and " << c[i];
    }
  }
#else
  GTEST_SKIP() << "this build takes FMA for given";
#endif
}

}  // namespace
}  // namespace assay::fma_calls_test
