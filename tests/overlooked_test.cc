// What a bench is apt to overlook, each by a kernel that is wrong in nothing else: the second output, the second row, the second input,
// the second of two cuts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>

#include "harness/verdict/op_run.h"
#include "tests/pair_op.h"

namespace assay::overlooked_test {
namespace {

using namespace pair_op;

struct Trial {
  const char* name;
  Kernel kernel;
  Check check;
  const char* words;
};

const Checks kNoBits = Checks::parse("classes,bound,bias,spread,exact,guard");

class Kernels : public testing::TestWithParam<int> {};

const std::vector<Trial>& trials() {
  static const std::vector<Trial> all = {
      {"bound of the second output", and_then([](const PairArgs& a) { a.z[a.n - 1] = ulps_off(a.z[a.n - 1], 6000); }),
       Check::bound, "z[0, 36]"},
      {"too small", and_then([](const PairArgs& a) { a.y[0] = ulps_off(a.y[0], -6000); }), Check::bound, "y[0, 0]"},
      {"sign", and_then([](const PairArgs& a) { a.y[a.y_stride + 1] *= -1; }), Check::bound, "y[1, 1]"},
      {"class of the second output", and_then([](const PairArgs& a) { a.z[2 * a.z_stride] = NAN; }), Check::classes, "z[2, 0]"},
      {"spread of the second output", and_then([](const PairArgs& a) {
         for (std::int64_t i = 0; i < a.rows * a.n; ++i) {
           float& z = a.z[i / a.n * a.z_stride + i % a.n];
           z = ulps_off(z, i % 2 == 0 ? 16 : -16);
         }
       }),
       Check::spread, "times the scalar kernel's"},
      {"the gap behind the first row", and_then([](const PairArgs& a) { a.y[a.n] = 1; }), Check::guard, "of y, in the gap"},
      {"the gap behind the second row", and_then([](const PairArgs& a) { a.z[a.z_stride + a.n + 1] = 1; }), Check::guard,
       "of z, in the gap"},
      {"the gap of an input", and_then([](const PairArgs& a) { clobber(a.a, a.n); }), Check::guard, "a"},
      {"before an input", and_then([](const PairArgs& a) { clobber(a.b, -1); }), Check::guard, "b"},
      {"the second row of an input", and_then([](const PairArgs& a) { clobber(a.a, a.a_stride); }), Check::guard, "a"},
      {"behind the last row, but in no other page", and_then([](const PairArgs& a) {
         float* const end = a.z + (a.rows - 1) * a.z_stride + a.n;
         if (reinterpret_cast<std::uintptr_t>(end) % guard_page_bytes() != 0) *end = 1;
       }),
       Check::guard, "wrote 1 bytes past the end of z, placed"},
      {"the second row of an input, made writable", and_then([](const PairArgs& a) { clobber_unprotected(a.a + a.a_stride); }),
       Check::guard, "changed its input a, placed"},
      {"the second input", and_then([](const PairArgs& a) { clobber(a.b, 3); }), Check::guard, "b"},
      {"reads before an input", and_then([](const PairArgs& a) { read(a.b - 1); }), Check::guard,
       "4 bytes before the start of b (guard page)"},
      {"reads before an output", and_then([](const PairArgs& a) { read(a.z - 1); }), Check::guard,
       "4 bytes before the start of z (guard page)"},
      {"faults in the second part, of two rows", and_then([](const PairArgs& a) {
         if (a.rows == kRows - kRows / 2) read(a.b - 1);
       }),
       Check::guard, "4 bytes before the start of b (guard page), placed cut by rows"},
      {"adds to what was there",
       [](const PairArgs& a) {
         const float before = *static_cast<volatile float*>(a.y);
         right(a);
         a.y[0] += before;
         return ASSAY_OK;
       },
       Check::classes, "y[0, 0]"},
      {"reads a gap", and_then([](const PairArgs& a) { a.y[0] += 0 * a.a[a.n]; }), Check::classes, "y[0, 0]"},
      {"refuses a part",
       [](const PairArgs& a) {
         right(a);
         return is_whole(a) ? ASSAY_OK : ASSAY_BAD_SHAPE;
       },
       Check::guard, "returned bad_shape when placed cut by rows"},
      {"wrong in part of a row", and_then([](const PairArgs& a) { a.z[0] += a.n == kColumns ? 0 : 1; }), Check::guard,
       "cut by n"},
      {"refuses an alignment",
       [](const PairArgs& a) {
         right(a);
         return is_whole(a) && reinterpret_cast<std::uintptr_t>(a.b) % 64 == 20 ? ASSAY_BAD_PARAMETER : ASSAY_OK;
       },
       Check::guard, "returned bad_parameter when placed"},
      {"wrong where one tensor is aligned less than another", and_then([](const PairArgs& a) {
         a.y[0] += reinterpret_cast<std::uintptr_t>(a.a) % 32 == 16 && reinterpret_cast<std::uintptr_t>(a.b) % 64 == 32 ? 1 : 0;
       }),
       Check::guard, "other bits when placed"},
  };
  return all;
}

TEST_P(Kernels, AreNamed) {
  const Trial& trial = trials()[static_cast<std::size_t>(GetParam())];
  const CaseResult result = verdict(trial.kernel, trial_case(), kNoBits);
  ASSERT_EQ(result.verdict, Verdict::fail) << trial.name;
  EXPECT_EQ(check_name(result.failure->check), check_name(trial.check)) << trial.name << ": " << result.failure->message;
  EXPECT_NE(result.failure->message.find(trial.words), std::string::npos) << trial.name << ": " << result.failure->message;
}
INSTANTIATE_TEST_SUITE_P(Trials, Kernels, testing::Range(0, static_cast<int>(trials().size())));

TEST(Overlooked, ARightKernelPasses) {
  const CaseResult result = verdict(and_then([](const PairArgs&) {}));
  EXPECT_EQ(result.verdict, Verdict::pass) << (result.failure ? result.failure->message : "");
  EXPECT_EQ(result.compared, 2 * kRows * kColumns);
}

// Two calls that meet: whoever comes first waits for the other, if there is one.
TEST(Overlooked, AKernelThatBearsNoSecondThread) {
  static std::atomic<int> inside = 0;
  const CaseResult result = verdict(and_then([](const PairArgs& a) {
                                      if (is_whole(a)) return;
                                      ++inside;
                                      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
                                      while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
                                      if (inside >= 2) a.y[0] += 1;
                                    }),
                                    trial_case(), kNoBits);
  ASSERT_EQ(result.verdict, Verdict::fail);
  EXPECT_NE(result.failure->message.find("threads"), std::string::npos) << result.failure->message;
}

// In a process of its own, where threads call it first; each of them once.
TEST(Overlooked, AKernelThatIsWrongInAThreadsFirstCall) {
  static thread_local int calls = 0;
  static const pid_t here = getpid();
  on_trial = and_then([](const PairArgs& a) {
    if (getpid() != here && ++calls == 1) a.z[0] += 1;
  });
  CaseCheck check(kPair, trial_case(), nullptr);
  InProcess executor(pair_avx2);
  const CaseResult result = check.check({.name = "pair_avx2", .selection = "", .executor = &executor}, kNoBits, true);
  ASSERT_EQ(result.verdict, Verdict::fail);
  EXPECT_NE(result.failure->message.find("when first called by threads at once"), std::string::npos) << result.failure->message;
}

TEST(Overlooked, AnotherRefusalThanTheOneAskedFor) {
  Params shape = kGaps;
  shape.set("refused", 1);
  const TestCase test = trial_case(shape);
  EXPECT_EQ(verdict([](const PairArgs&) { return ASSAY_BAD_SHAPE; }, test).verdict, Verdict::pass);
  EXPECT_EQ(verdict([](const PairArgs&) { return ASSAY_BAD_PARAMETER; }, test).verdict, Verdict::fail);
  EXPECT_EQ(verdict([](const PairArgs& a) { return a.z[1] = 0, ASSAY_BAD_SHAPE; }, test).verdict, Verdict::fail);
}

TEST(Overlooked, WhatTheGoldenKeeps) {
  const Kernel kernel = and_then([](const PairArgs&) {});
  TestCase test = trial_case();
  Kept kept;
  kept.values = {DType::f64, {2}, std::vector<std::uint8_t>(16)};
  kept.index = {3, 40};
  const float* const a = test.inputs[0].as<float>();
  double truth[2] = {static_cast<double>(a[3]) * static_cast<double>(kFactor),
                     static_cast<double>(a[40]) * static_cast<double>(kFactor)};
  const auto with_truth = [&] {
    std::memcpy(kept.values.bytes.data(), truth, sizeof truth);
    test.truth["y"] = kept;
    return verdict(kernel, test, kNoBits);
  };
  EXPECT_EQ(with_truth().verdict, Verdict::pass);
  truth[1] += 1;
  const CaseResult missed = with_truth();
  ASSERT_EQ(missed.verdict, Verdict::fail);
  EXPECT_NE(missed.failure->message.find("y[1, 3]"), std::string::npos) << missed.failure->message;
  test.truth.clear();
  kept.values = {DType::f32, {1}, {1, 2, 3, 4}};
  kept.index = {5};
  test.canonical["z"] = kept;
  const CaseResult other = verdict(kernel, test);
  ASSERT_EQ(other.verdict, Verdict::fail);
  EXPECT_NE(other.failure->message.find("not the golden's canonical bits: z[0, 5]"), std::string::npos) << other.failure->message;
}

TEST(Overlooked, TheThirdCallOfSeveral) {
  int calls = 0;
  on_trial = and_then([&calls](const PairArgs& a) {
    if (++calls == 3) a.z[4] = ulps_off(a.z[4], 1);
  });
  CaseCheck check(kPair, trial_case(), nullptr);
  InProcess executor(pair_avx2);
  const CaseResult result = check.check({.name = "planted", .selection = "", .executor = &executor, .canonical = false},
                                        Checks::parse("classes,bound,bits"));
  ASSERT_TRUE(result.failure);
  EXPECT_NE(result.failure->message.find("z[0, 4]"), std::string::npos) << result.failure->message;
}

// Of several kernels each is called thousands of times.
TEST(Overlooked, TheSecondKernelWearsOut) {
  static std::atomic<int> calls = 0;
  on_trial = and_then([](const PairArgs& a) {
    if (++calls > 3000) a.y[0] = 0;
  });
  Family family = kFamily;
  family.cost = [](const Op&, const Params&, const void*) { return Cost{.bytes = 1}; };
  const Op op{"pair", &family, &kTable, &kContract};
  InProcess scalar(pair_scalar);
  InProcess avx2(pair_avx2);
  const std::vector<Candidate> both{{.name = "right", .selection = "", .executor = &scalar},
                                    {.name = "worn", .selection = "", .executor = &avx2}};
  const auto trial = [&] { return generated_test_case(op, {kGaps, "gauss", 4}); };
  const auto results = run_cases({op, both, kNoBits, nullptr, guard_page_bytes(), 1, true, [](CaseResult&) {}}, {trial});
  EXPECT_FALSE(results.at(0).failure) << results[0].failure->message;
  ASSERT_TRUE(results.at(1).failure) << calls;
  EXPECT_GT(calls, 3000);
}

TEST(Overlooked, OverReadingIsGrantedPastInputsAlone) {
  const auto reading = [](const Kernel& kernel) {
    on_trial = kernel;
    InProcess avx2(pair_avx2);
    return CaseCheck(kPair, trial_case(), nullptr)
        .check({.name = "reads", .selection = "", .executor = &avx2, .traits = Traits::parse("over-read=16;")}, kNoBits)
        .failure;
  };
  EXPECT_FALSE(reading(and_then([](const PairArgs& a) { read(a.b + a.n); })));
  const auto failure = reading(and_then([](const PairArgs& a) { read(a.z + (a.rows - 1) * a.z_stride + a.n); }));
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->message.find("past the end of z"), std::string::npos) << failure->message;
}

// How far a few outputs are off, in units of what the scalar kernel's are, is chance.
TEST(Overlooked, TheSpreadOfSixteenOutputsAndMore) {
  const Kernel off = and_then([](const PairArgs& a) {
    for (std::int64_t i = 0; i < a.n; ++i) a.z[i] = ulps_off(a.z[i], i % 2 == 0 ? 16 : -16);
  });
  const auto with = [&](std::int64_t n) {
    return verdict(off, trial_case({{"rows", std::int64_t{1}}, {"n", n}}), Checks::parse("classes,bound,spread"));
  };
  EXPECT_EQ(with(15).verdict, Verdict::pass);
  const CaseResult judged = with(16);
  ASSERT_EQ(judged.verdict, Verdict::fail);
  EXPECT_EQ(judged.failure->check, Check::spread) << judged.failure->message;
}

// Five hundred of 4096 results cut, or rounded up, lean by twelve standard deviations.
TEST(Overlooked, LeaningEitherWay) {
  TestCase test = trial_case({{"rows", std::int64_t{1}}, {"n", std::int64_t{4096}}});
  const auto leaning = [](float away) {
    return and_then([away](const PairArgs& a) {
      for (std::int64_t i = 0; i < std::min<std::int64_t>(a.n, 500); ++i) {
        const double exact = static_cast<double>(a.a[i]) * static_cast<double>(kFactor);
        const double excess = std::fabs(static_cast<double>(a.y[i])) - std::fabs(exact);
        if (excess != 0 && (excess < 0) == (away > 0))
          a.y[i] = std::nextafter(a.y[i], away > 0 ? std::copysign(INFINITY, a.y[i]) : 0.0F);
      }
    });
  };
  const Checks values = Checks::parse("classes,bound,bias");
  EXPECT_EQ(verdict(leaning(1), test, values).verdict, Verdict::pass) << "only the op's own case is judged by its bias";
  test.judge_bias = true;
  for (const float away : {1.0F, -1.0F}) {
    const CaseResult result = verdict(leaning(away), test, values);
    ASSERT_EQ(result.verdict, Verdict::fail) << away;
    EXPECT_EQ(check_name(result.failure->check), check_name(Check::bias)) << result.failure->message;
    EXPECT_LT(std::fabs(*result.z), 24);
  }
  EXPECT_EQ(verdict(and_then([](const PairArgs&) {}), test, values).verdict, Verdict::pass);
  test = trial_case();
  test.judge_bias = true;
  EXPECT_EQ(verdict(and_then([](const PairArgs&) {}), test, values).verdict, Verdict::fail) << "too few units to judge";
}

TEST(Overlooked, ACaseThatZerosFailByTheSecondOutputIsTrusted) {
  TestCase test = trial_case();
  test.tags.clear();
  std::fill(test.inputs[0].bytes.begin(), test.inputs[0].bytes.end(), std::uint8_t{0});
  EXPECT_EQ(verdict(and_then([](const PairArgs&) {}), test, kNoBits).verdict, Verdict::pass);
}

TEST(Overlooked, ADigestIsOfEveryOutputAndTheStatus) {
  const CaseResult whole = verdict(and_then([](const PairArgs&) {}));
  EXPECT_NE(verdict(and_then([](const PairArgs& a) { a.z[4] = ulps_off(a.z[4], 1); })).digest, whole.digest);
  EXPECT_EQ(verdict(and_then([](const PairArgs&) {})).digest, whole.digest);
  const auto nan_of = [](std::uint32_t bits) {
    return and_then([bits](const PairArgs& a) { std::memcpy(a.z, &bits, sizeof bits); });
  };
  EXPECT_EQ(verdict(nan_of(0x7fc00000)).digest, verdict(nan_of(0xffc00123)).digest) << "arithmetic makes any NaN";
  EXPECT_NE(verdict([](const PairArgs& a) { return right(a), ASSAY_BAD_SHAPE; }).digest, whole.digest);
}

}  // namespace
}  // namespace assay::overlooked_test
