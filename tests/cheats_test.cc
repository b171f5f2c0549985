// Kernels that cheat (tests/cheats/check_cheats.cc): each is wrong, and hides it as far as it is let. None passes, each is named, and this
// process goes on. What the kernel of this machine cannot hold back is left out, and said.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/interop/remote/child_process.h"
#include "harness/interop/remote/isolation.h"
#include "harness/interop/remote/remote_runner.h"
#include "harness/verdict/discipline/sanitized.h"
#include "harness/verdict/suite.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::cheats_test {
namespace {

struct Cheat {
  const char* kernel;
  const char* words;              // of its failure
  const char* needs = "";         // the part of the isolation without which it may pass
  const char* constructor = "0";  // what its library does while it is loaded
};

constexpr const char* kPastTheEnd = "past the end of a (guard page)";
constexpr const char* kWrong = "y[";

constexpr Cheat kCheats[] = {
    {"over_read", kPastTheEnd},
    {"opened", kPastTheEnd, "arena"},
    {"opened_from_before", kPastTheEnd, "arena"},
    {"opened_by_key", kPastTheEnd, "arena"},
    {"mapped_over", kPastTheEnd, "arena"},
    {"unmapped_and_mapped", kPastTheEnd, "arena"},
    {"moved_over", kPastTheEnd, "arena"},
    {"own_handler", kPastTheEnd, "arena"},
    {"by_another_thread", kPastTheEnd, "arena"},
    {"by_a_constructors_thread", kPastTheEnd, "arena", "2"},
    {"over_read", kPastTheEnd, "arena", "1"},
    {"input_opened", "changed its input a: byte ", "arena"},
    {"golden", kWrong, "landlock"},
    {"ledger", kWrong, "landlock"},
    {"inherited_file", kWrong},
    {"file_written", kWrong, "landlock"},
    {"own_maps", kWrong, "landlock"},
    {"guard_seen", kWrong, "seccomp"},
    {"own_memory_file", kWrong, "landlock"},
    {"parents_memory_file", kWrong, "landlock"},
    {"parents_memory", kWrong, "seccomp"},
    {"parent_traced", kWrong, "seccomp"},
    {"parent_signalled", kWrong, "arena"},
    {"parent_limited", kWrong, "seccomp"},
    {"network", kWrong, "seccomp"},
    {"forked", kWrong, "seccomp"},
    {"another_program", kWrong, "arena"},
    {"own_filter", kWrong, "arena"},
    {"prepared", kWrong, "arena", "4"},
    {"prepared", kWrong, "landlock", "5"},
    {"channel_forged", kWrong, "arena"},
    {"channel_closed", kWrong, "arena"},
    {"channel_replaced", kWrong, "arena"},
    {"channel_drained", kWrong, "arena"},
    {"alarm_ignored", "gave no answer within 0.5 s (--time-limit)"},
    {"alarm_raised", "the runner died of SIGALRM"},
    {"ends", "the runner exited with status 0"},
    {"one_of_many", "y[4500000]"},
    {"throws_a_report", R"(threw std::runtime_error: \n\nPASS\n\x1b[2J)"},
    {"done_later", ""},  // in y, or in the memory of a later call: as chance has it
};

std::string library(const std::string& constructor) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / ("check_cheats_" + constructor + ".so")).string();
}

CheckRequest request(const std::string& kernel, const std::string& constructor) {
  CheckRequest request;
  request.ops = {"add"};
  request.generated = GeneratedRequest{{{"n", kernel == "one_of_many" ? 9'000'000 : 1100}}, "gauss", 1};
  request.variant = "cheats:" + kernel;
  const bool endless = kernel == "alarm_ignored";
  request.runner = RunnerOptions{"", {library(constructor)}, std::chrono::milliseconds(endless ? 500 : 60000)};
  return request;
}

bool in_force(const std::string& isolation, const std::string& part) {
  return isolation.substr(0, isolation.find("missing:")).find(part) != std::string::npos && !isolation.starts_with("none");
}

TEST(Cheats, EachIsNamed) {
  for (const Cheat& one : kCheats) {
    const std::string name = std::string(one.kernel) + ", library " + one.constructor;
    const SuiteResult result = run_suite(request(one.kernel, one.constructor));
    if (*one.needs != '\0' && !in_force(result.isolation, one.needs)) {
      std::printf("left out: %s (isolation: %s)\n", name.c_str(), result.isolation.c_str());
      continue;
    }
    EXPECT_FALSE(result.passed()) << name;
    ASSERT_FALSE(result.cases.empty()) << name;
    for (const CaseResult& case_result : result.cases) {
      ASSERT_TRUE(case_result.failure) << name << ": passed";
      EXPECT_NE(case_result.failure->message.find(one.words), std::string::npos) << name << ": " << case_result.failure->message;
    }
  }
}

TEST(Cheats, ABoundThatGrantsAnythingIsNoPass) {
  const Ran ran =
      run_assay({"check", "matvec_f32", "--case", "bias", "--plugin", library("0"), "--variant", "cheats:declared_zeros"});
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("errors are 1.00 times the outputs (RMS)"), std::string::npos) << ran.out;
}

TEST(Cheats, WhatIsPrintedIsShownAsSuch) {
  const Ran ran =
      run_assay({"check", "add", "--shape", "n=100", "--plugin", library("0"), "--variant", "cheats:prints_a_report"});
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_EQ((ran.out + ran.err).find('\x1b'), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find(R"([runner] \x1b[1A::error::nothing)"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("[runner] PASS\n"), std::string::npos) << ran.err;
}

TEST(Cheats, HonestOnesPass) {
  for (const char* kernel : {"tame", "just_in_time", "two_threads"}) {
    const SuiteResult result = run_suite(request(kernel, "0"));
    for (const CaseResult& one : result.cases)
      EXPECT_EQ(one.verdict, Verdict::pass) << kernel << ": " << (one.failure ? one.failure->message : "");
  }
}

TEST(Cheats, NewProcessesAreAllowedWhereTheUserSaysSo) {
  CheckRequest asked = request("forked", "0");
  asked.runner->isolation.allow_fork = true;
  EXPECT_TRUE(run_suite(asked).passed());
}

TEST(Cheats, AFileIsReadWhereTheUserSaysSo) {
  CheckRequest asked = request("ledger", "0");
  asked.runner->isolation.readable = {std::string(std::getenv("ASSAY_SOURCE_DIR")) + "/golden"};
  EXPECT_TRUE(run_suite(asked).passed());
}

// Root's own folder: nobody else can look into it.
TEST(Cheats, RootIsKeptWhereNobodyElseCanReadAPlugin) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a sanitizer's build is not isolated";
#endif
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  CheckRequest asked = request("ledger", "0");
  asked.runner->plugins = {(folder.path() / "own.so").string()};
  std::filesystem::copy_file(library("0"), asked.runner->plugins[0]);
  SuiteResult result = run_suite(asked);
  EXPECT_NE(result.isolation.find("no root (root kept: " + asked.runner->plugins[0] + " is not readable by nobody)"),
            std::string::npos)
      << result.isolation;
  EXPECT_EQ(result.passed(), !in_force(result.isolation, "landlock"));
  asked.runner->isolation.wish = IsolationRequest::Wish::required;
  EXPECT_THROW(run_suite(asked), RunnerError);
}

// Not the host, where a kernel takes all memory.
TEST(Cheats, ARunnerIsTheFirstToEndWhereMemoryLacks) {
  const ChildProcess child({"/bin/sleep", "60"});
  std::ifstream file("/proc/" + std::to_string(child.pid()) + "/oom_score_adj");
  int score = 0;
  file >> score;
  EXPECT_EQ(score, 1000);
}

TEST(Cheats, AConstructorThatEndsTheProcessIsNamed) {
  try {
    run_suite(request("tame", "3"));
    ADD_FAILURE() << "was loaded";
  } catch (const RunnerError& error) {
    EXPECT_NE(std::string(error.what()).find("while it was loaded the runner exited with status 0"), std::string::npos)
        << error.what();
  }
}

// Each part by what came of it, on a system that has it or not.
TEST(Isolation, WhatIsMissingIsToldWithItsReason) {
  const Isolation isolation("/bin/true", {}, {});
  EXPECT_EQ(isolation.state({}).to_string(), "seccomp, landlock, no root");
  EXPECT_EQ(isolation.state({.landlock = ENOSYS}).to_string(), "seccomp, no root; missing: landlock (this kernel has none)");
  EXPECT_EQ(isolation.state({.seccomp = EINVAL}).to_string(), "landlock, no root; missing: seccomp (this kernel has none)");
  EXPECT_EQ(isolation.state({.root = EPERM}).to_string(), "seccomp, landlock; missing: no root (Operation not permitted)");
}

// As typed: what is in force, exit codes.
TEST(Isolation, IsPrintedAndCanBeRequired) {
  const std::vector<std::string> check = {"check",    "add",        "--shape",   "n=100",
                                          "--plugin", library("0"), "--variant", "cheats:tame"};
  const auto with = [&check](const std::vector<std::string>& more) {
    std::vector<std::string> words = check;
    words.insert(words.end(), more.begin(), more.end());
    return run_assay(words);
  };
  const Ran plain = with({});
  EXPECT_EQ(plain.status, 0) << plain.out << plain.err;
  EXPECT_TRUE(plain.out.starts_with("isolation: ")) << plain.out;
  const std::string json = nlohmann::json::parse(with({"--json"}).out)["isolation"];
  EXPECT_EQ(plain.out.substr(0, plain.out.find('\n')), "isolation: " + json);
  const bool all = json.find("missing") == std::string::npos && !json.starts_with("none");
  EXPECT_EQ(with({"--isolation", "required"}).status, all ? 0 : 2) << json;
  EXPECT_TRUE(with({"--isolation", "none"}).out.starts_with("isolation: none (")) << json;
  EXPECT_EQ(with({"--isolation", "some"}).status, 2);
  const std::string runner = (std::filesystem::path(library("0")).parent_path().parent_path() / "assay-runner").string();
  const Ran elsewhere = with({"--runner", runner, "--isolation", "required"});
  EXPECT_EQ(elsewhere.status, 2);
  EXPECT_NE(elsewhere.err.find("(started by --runner)"), std::string::npos) << elsewhere.err;
}

}  // namespace
}  // namespace assay::cheats_test
