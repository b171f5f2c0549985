// Runners that die, hang or send rubbish: each is told as that, and the run goes on.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/interop/remote/child_process.h"
#include "harness/verdict/suite.h"
#include "tests/temporary.h"

namespace assay::runner_faults_test {
namespace {

constexpr std::int64_t kCases = 2;

// Short only for those that never answer: on a busy machine any other may need its time.
std::chrono::milliseconds limit_for(const std::string& mode) {
  const bool silent =
      mode == "silent" || mode == "hangs_in_a_call" || mode == "stalls_within_an_answer" || mode == "closes_its_output";
  return silent ? std::chrono::milliseconds(300) : std::chrono::minutes(1);
}

CheckRequest request(const std::string& mode) {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  CheckRequest request;
  request.ops = {"add"};
  request.generated = GeneratedRequest{{{"n", std::int64_t{33}}}, "gauss", 1};
  request.generated_cases = kCases;
  request.runner = RunnerOptions{"exec '" + (folder / "fake_runner").string() + "' " + mode, {}, limit_for(mode)};
  return request;
}

void expect_refused(const std::string& mode, const std::string& words) {
  try {
    run_suite(request(mode));
    ADD_FAILURE() << mode << ": was taken for a runner";
  } catch (const RunnerError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(words), std::string::npos) << mode << ": " << message;
    EXPECT_NE(message.find("--runner"), std::string::npos) << mode << ": " << message;
  }
}

// Every case fails, and says `words`.
void expect_failed(const std::string& mode, const std::string& words) {
  const SuiteResult result = run_suite(request(mode));
  ASSERT_EQ(result.cases.size(), static_cast<std::size_t>(kCases)) << mode << ": the run stopped";
  for (const CaseResult& one : result.cases) {
    ASSERT_EQ(one.verdict, Verdict::fail) << mode;
    EXPECT_TRUE(one.crashed) << mode;
    EXPECT_EQ(check_name(one.failure->check), "guard") << mode;
    EXPECT_TRUE(one.failure->message.starts_with("the runner ")) << mode << ": " << one.failure->message;
    EXPECT_NE(one.failure->message.find(words), std::string::npos) << mode << ": " << one.failure->message;
  }
  EXPECT_FALSE(result.passed());
}

TEST(RunnerFaults, ARightOnePasses) {
  const SuiteResult result = run_suite(request("right"));
  EXPECT_TRUE(result.passed()) << (result.cases[0].failure ? result.cases[0].failure->message : "");
  EXPECT_EQ(result.runner, "fake (scalar)");
}

TEST(RunnerFaults, BeforeTheFirstCall) {
  expect_refused("exits_at_once", "the runner exited with status 3");
  expect_refused("dies_at_once", "the runner died of SIGSEGV");
  expect_refused("silent", "gave no answer within 0.3 s (--time-limit)");
  expect_refused("prints_a_banner", "sent rubbish: 57 65 6c 63 6f 6d 65 20 74 6f 20 74 (\"Welcome to t\")");
  expect_refused("half_a_head", "exited with status 0 10 bytes into the head of its answer");
  expect_refused("half_a_greeting", "bytes into an answer of");
  expect_refused("huge_frame", "announced a frame of 1152921504606846976 bytes");
  expect_refused("large_frame", "announced an answer of 1073741824 bytes; expected at most 4194304");
  expect_refused("unknown_kind", "sent a frame of kind 77");
  expect_refused("another_kind_first", "began with something else than its greeting");
}

TEST(RunnerFaults, GreetingsOfAnotherKindOfRunner) {
  expect_refused("another_protocol", "speaks protocol 99; expected 7");
  expect_refused("another_abi", "takes plugins of ABI 99; expected 2");
  expect_refused("another_byte_order", "another byte order; expected little-endian");
  expect_refused("small_pointers", "pointers of 4 bytes; expected 8");
  expect_refused("odd_pages", "pages of 5000 bytes");
  expect_refused("unknown_op", "the op 'addd', which is unknown here");
  expect_refused("unknown_isa", "the ISA 'avx3', which is unknown here");
  expect_refused("other_arguments", "takes 8 bytes of arguments for add; expected 32");
  expect_refused("more_kernels_than_bytes", "'kernels', more than it can hold");
}

TEST(RunnerFaults, InACall) {
  expect_failed("exits_in_a_call", "exited with status 9");
  expect_failed("is_killed_in_a_call", "died of SIGKILL");
  expect_failed("hangs_in_a_call", "gave no answer within 0.3 s (--time-limit): an endless loop?");
  expect_failed("closes_its_output", "closed its output, but lives");
  expect_failed("ends_within_an_answer", "exited with status 0");
  expect_failed("stalls_within_an_answer", "gave no answer within 0.3 s");
}

TEST(RunnerFaults, RubbishForAnAnswer) {
  expect_failed("prints_in_a_call", "sent rubbish: 72 65 73 75 6c 74");
  expect_failed("floods", "sent rubbish: 3f 3f");
  expect_failed("another_sequence", "answered request");
  expect_failed("answers_twice", "answered request");
  expect_failed("greets_in_a_call", "was sent a call and answered something else");
  expect_failed("refuses_calls", "refused the call");
  expect_failed("odd_status", "sent the status 99");
  expect_failed("short_answer", "bytes that ends within 'memory'");
  expect_failed("long_answer", "bytes; expected it to end after");
  expect_failed("gigabyte_answer", "announced an answer of 1073741824 bytes");
  expect_failed("fault_nowhere", "sent a fault in memory 3 of 3");
  expect_failed("fault_that_says_nothing", "sent a fault that says nothing");
}

// The others' answers do not hide it.
TEST(RunnerFaults, OnePartThatIsRefusedFailsTheCall) {
  const SuiteResult result = run_suite(request("refuses_a_first_part"));
  ASSERT_EQ(result.cases.size(), static_cast<std::size_t>(kCases));
  for (const CaseResult& one : result.cases) {
    ASSERT_TRUE(one.failure);
    EXPECT_NE(one.failure->message.find("bad_shape"), std::string::npos) << one.failure->message;
  }
}

TEST(RunnerFaults, AFreshRunnerTakesTheNextCall) {
  CheckRequest asked = request("dies_in_every_third_call");
  asked.checks = Checks::parse("classes,bound,exact");  // one call a case
  asked.generated_cases = 6;
  const SuiteResult result = run_suite(asked);
  EXPECT_EQ(std::ranges::count(result.cases, Verdict::fail, &CaseResult::verdict), 2);
  for (const CaseResult& one : result.cases) {
    const std::string message = one.failure ? one.failure->message : "the runner died of SIGBUS";
    EXPECT_NE(message.find("the runner died of SIGBUS"), std::string::npos) << message;
  }
}

// One that is late in three calls in a row is not called any more; one that answers between them is.
TEST(RunnerFaults, WhoAnswersInTimeAgainIsStillCalled) {
  CheckRequest asked = request("hangs_in_every_third_call");
  asked.checks = Checks::parse("classes,bound,exact");  // one call a case
  asked.generated_cases = 12;
  asked.runner->limit = std::chrono::seconds(1);
  const SuiteResult result = run_suite(asked);
  EXPECT_EQ(std::ranges::count(result.cases, Verdict::pass, &CaseResult::verdict), 8);
}

// What it cannot run is no pass: it is told.
TEST(RunnerFaults, AKernelWhoseIsaItLacksIsSkippedAndTold) {
  const SuiteResult result = run_suite(request("lacks_an_isa"));
  EXPECT_EQ(result.cases.size(), static_cast<std::size_t>(kCases));
  ASSERT_EQ(result.skips.size(), 1U);
  EXPECT_EQ(result.skips[0].what, "add_avx2");
  EXPECT_EQ(result.skips[0].why, "the runner's CPU lacks avx2");
}

// The verdict is to be of the kernels that were there at first, however often the other one is started.
TEST(RunnerFaults, AnotherRunnerInItsPlaceIsNotTaken) {
  const TemporaryFolder folder;
  CheckRequest asked = request("right");
  const std::string another = request("another_kernel").runner->command;
  asked.runner->command =
      "mkdir '" + (folder.path() / "started").string() + "' 2>/dev/null && " + asked.runner->command + "; " + another;
  const SuiteResult result = run_suite(asked);
  ASSERT_EQ(result.cases.size(), static_cast<std::size_t>(kCases));
  for (const CaseResult& one : result.cases) {
    ASSERT_EQ(one.verdict, Verdict::fail);
    EXPECT_TRUE(one.failure->message.starts_with("the runner was started again and offers other kernels than before"))
        << one.failure->message;
  }
}

// As one behind ssh, which the host cannot kill: it is in a session of its own, and its kernel never returns.
TEST(RunnerFaults, ARunnerThatItsHostHasLeftEndsByItself) {
  const TemporaryFolder folder;
  const std::filesystem::path programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  CheckRequest asked = request("");
  asked.ops = {"rms_norm"};
  asked.generated->shape = {};
  asked.generated_cases = 1;
  asked.variant = "bad:sleeps";
  asked.checks = Checks::parse("classes,bound,exact");  // one call
  asked.runner = RunnerOptions{"cd '" + folder.path().string() + "' && exec setsid sh -c 'echo $$ >session; \"" +
                                   (programs.parent_path() / "assay-runner").string() + "\"; echo $? >status'",
                               {(programs / "bad_plugin.so").string()},
                               std::chrono::seconds(1)};
  const SuiteResult result = run_suite(asked);
  ASSERT_EQ(result.cases.size(), 1U);
  EXPECT_NE(result.cases[0].failure->message.find("gave no answer within 1 s"), std::string::npos);
  const auto number_in = [&folder](const char* file) {
    int number = 0;
    std::ifstream(folder.path() / file) >> number;
    return number;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (number_in("status") == 0 && std::chrono::steady_clock::now() < deadline) usleep(10000);
  EXPECT_EQ(number_in("status"), 128 + SIGALRM);
  if (number_in("status") == 0 && number_in("session") > 0) kill(-number_in("session"), SIGKILL);
}

TEST(RunnerFaults, OneThatIsNotThereIsNamed) {
  CheckRequest asked = request("right");
  asked.runner->command = "/nonexistent/assay-runner";
  try {
    run_suite(asked);
    ADD_FAILURE();
  } catch (const RunnerError& error) {
    EXPECT_NE(std::string(error.what()).find("exited with status 127"), std::string::npos) << error.what();
  }
}

// On this thread's core, which does not sleep, the child gets half of it; the other half it waited for.
TEST(ChildProcess, WhatOthersTakeOfItsCoreIsToldAndNotHeldAgainstIt) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &mine);
  ChildProcess child({"/bin/sh", "-c", "while :; do :; done"});
  ASSERT_EQ(sched_setaffinity(child.pid(), sizeof mine, &mine), 0);
  std::jthread busy([&](const std::stop_token& stop) {
    sched_setaffinity(0, sizeof mine, &mine);
    while (!stop.stop_requested()) continue;
  });
  std::byte answer{};
  std::size_t got = 0;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(child.read({&answer, 1}, start + std::chrono::milliseconds(600), got), Io::late);
  EXPECT_GT(child.kept_waiting(), std::chrono::milliseconds(100));
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(700));
}

}  // namespace
}  // namespace assay::runner_faults_test
