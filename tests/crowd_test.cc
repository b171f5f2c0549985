// Callers that begin together meet in the middle of their calls, however few cores there are.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <vector>

#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/discipline/kernel_run.h"

namespace assay::crowd_test {
namespace {

std::atomic<int> inside{0};
std::atomic<int> most{0};

// Far shorter than what a scheduler gives a thread before it takes the next.
AssayStatus busy(const void*) noexcept {
  const int now = ++inside;
  most = std::max(most.load(), now);
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
  while (std::chrono::steady_clock::now() < end) continue;
  --inside;
  return ASSAY_OK;
}

int threads_here() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// Who begins first does so when all are there.
TEST(Crowd, NobodyBeginsAlone) {
  constexpr int kCallers = 8;
  std::atomic<int> of_the_first{0};
  run_at_once(kCallers, [&](std::size_t) {
    int nobody = 0;
    of_the_first.compare_exchange_strong(nobody, threads_here());
  });
  EXPECT_GE(of_the_first, kCallers);
}

// This thread and those that it starts on one core, for a while.
class OnOneCore {
 public:
  OnOneCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;
  ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

TEST(Crowd, ThreeCallersMeetOnOneCore) {
  const OnOneCore pinned;
  most = 0;
  for (int round = 0; round < 20; ++round) run_at_once(3, [](std::size_t) { EXPECT_FALSE(run_kernel(busy, nullptr).fault); });
  EXPECT_EQ(most, 3);
}

// So that a buffer which they share shows, though they do not meet.
TEST(Crowd, EachCallerHasDataOfItsOwn) {
  const Op& op = *find_op("exp");
  const TestCase test = generated_test_case(op, {{{"n", std::int64_t{40}}}, "gauss", 1});
  Call call(op, test.params, test.inputs);
  InProcess scalar(op.kernels().back().run);
  std::set<std::vector<std::uint8_t>> seen;
  for (const Outcome& outcome : call.run_rivals(scalar, 5, {}, nullptr)) seen.insert(outcome.outputs.at(0).bytes);
  EXPECT_EQ(seen.size(), 5U);
}

}  // namespace
}  // namespace assay::crowd_test
