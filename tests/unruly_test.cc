// Kernels that compute the right numbers and do what a kernel must not (tests/plugins/unruly.cc): each is named as what it is, in this
// process and in a runner's, whatever it claims; the run goes on, and this process is as it was.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "harness/interop/plugin/loader.h"
#include "harness/verdict/discipline/sanitized.h"
#include "harness/verdict/suite.h"

namespace assay::unruly_test {
namespace {

constexpr std::int64_t kShort = 1100;
constexpr std::int64_t kMeets = 40000;  // what takes less may end before another begins

struct Unruly {
  const char* kernel;
  const char* words;  // of its failure
  std::int64_t n = kShort;
};

constexpr Unruly kUnruly[] = {
    {"shared_scratch", "threads", kMeets},
    {"cached_by_pointer", "where other data lay before"},
    {"every_4096th", "that are the same: y["},
    {"from_call_2000", "that are the same: y["},
    {"three_threads", "threads", kMeets},
    {"lazy_table", "threads", kMeets},
    {"leak", "called malloc, mmap or their kin 1 times and gave back 0 times"},
    {"heap", "called malloc, mmap or their kin 1 times and gave back 1 times"},
    {"mapped", "called malloc, mmap or their kin 1 times and gave back 0 times"},
    {"large_frame", "needs more than 524288 bytes of stack"},
    {"knows_nans", "other bits when placed"},
    {"knows_bytes", "y["},
    {"x_aligned_alone", "other bits when placed"},
    {"input_restored", "changed its input a: byte 0, which can only be read"},
    {"other_input_in_place", "changed its input b: byte 0, which can only be read"},
    {"arguments", "changed its arguments"},
    {"signal_blocked", "left other signals blocked"},
    {"handler", "left another handler of signal 10"},
    {"left_open", "left files open"},
    {"leak_declared", "a leak"},
#if defined(__x86_64__)
    {"mmx", "left registers of the x87 in use: MMX without emms?"},
    {"flushing",
     "left another floating-point environment behind: this thread flushes denormals (0x37f00001f80 became 0x37f00009f80)"},
    {"rounding", "left another floating-point environment behind: this thread does not round to nearest"},
    {"x87_control", "left another floating-point environment behind: its control register is another"},
    {"direction", "left the direction flag set"},
    {"register_lost", "left another value in the register r12, which a callee saves"},
    {"callers_frame", "wrote into its caller's frame"},
#elif defined(__aarch64__)
    {"flushing", "left another floating-point environment behind: this thread flushes denormals"},
    {"rounding", "left another floating-point environment behind: this thread does not round to nearest"},
    {"register_lost", "left another value in the register x20, which a callee saves"},
    {"vector_register_lost", "left another value in the register d9, which a callee saves"},
#endif
};

std::filesystem::path plugin() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "unruly_plugin.so";
}

CheckRequest request(const std::string& kernel, std::int64_t n) {
  CheckRequest request;
  request.ops = {"add"};
  request.generated = GeneratedRequest{{{"n", n}}, "gauss", 1};
  request.generated_cases = 2;
  request.variant = "unruly:" + kernel;
  request.runner = RunnerOptions{"", {plugin().string()}, std::chrono::minutes(2)};
  return request;
}

// As Suite does it: threads first, and many calls.
std::vector<CaseResult> in_this_process(const AssayPluginKernel& kernel, std::int64_t longest) {
  const Op& add = *find_op("add");
  InProcess executor(kernel.run);
  const Candidate candidate{
      .name = kernel.name, .selection = "", .executor = &executor, .canonical = kernel.claim == ASSAY_CLAIM_CANONICAL};
  std::vector<CaseResult> results;
  for (const std::int64_t n : {longest, std::int64_t{200}}) {
    CaseCheck check(add, generated_test_case(add, {{{"n", n}}, "gauss", 1}), nullptr);
    results.push_back(check.check(candidate, Checks::all(), n == longest));
    if (!results.back().failure) check.apply(check.check_many_calls(candidate, Checks::all()), results.back());
  }
  return results;
}

void expect_named(const std::vector<CaseResult>& results, const std::string& kernel, const std::string& words) {
  bool named = false;
  for (const CaseResult& one : results) named = named || (one.failure && one.failure->message.find(words) != std::string::npos);
  std::string all;
  for (const CaseResult& one : results) all += "\n" + (one.failure ? one.failure->message : "passed");
  EXPECT_TRUE(named) << kernel << ": expected '" << words << "' in" << all;
}

TEST(Unruly, EachIsNamedByTheRunner) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a sanitizer has a heap, a stack and mappings of its own";
#endif
  for (const Unruly& one : kUnruly) {
    for (const char* suffix : {"", "_bounded"})
      expect_named(run_suite(request(one.kernel + std::string(suffix), one.n)).cases, one.kernel, one.words);
  }
}

TEST(Unruly, TameOnesPass) {
  for (const char* kernel : {"tame", "tame_bounded", "heap_declared"}) {
    for (const CaseResult& one : run_suite(request(kernel, kShort)).cases)
      EXPECT_EQ(one.verdict, Verdict::pass) << kernel << ": " << (one.failure ? one.failure->message : "");
  }
}

// A handler, a mask, a control register: this process has its own again after each of them. Bounded ones share the state of the others.
TEST(Unruly, EachIsNamedInThisProcessWhichGoesOn) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "kernels share the stack of a sanitizer, and its heap";
#endif
  const LoadedPlugin loaded = load_plugin(plugin().string());
  for (const AssayPluginKernel& kernel : loaded.kernels) {
    for (const Unruly& one : kUnruly) {
      if (kernel.name == std::string(one.kernel) && LoadedPlugin::traits_of(kernel).allowed() == Allowed::nothing)
        expect_named(in_this_process(kernel, one.n), kernel.name, one.words);
    }
    if (kernel.name != std::string("tame") && kernel.name != std::string("tame_bounded")) continue;
    for (const CaseResult& one : in_this_process(kernel, kShort))
      EXPECT_FALSE(one.failure) << kernel.name << ": " << one.failure->message;
  }
  EXPECT_NO_THROW(assert_float_environment());
  struct sigaction now {};
  sigaction(SIGUSR1, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGUSR2), 0);
}

}  // namespace
}  // namespace assay::unruly_test
