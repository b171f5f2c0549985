// `assay check` as it is used every day: what it prints, how much, and what it repeats.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "golden/read_file.h"
#include "harness/verdict/discipline/sanitized.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::check_command_test {
namespace {

std::string plugin(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / (name + ".so")).string();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::ptrdiff_t lines(const std::string& text) {
  return std::ranges::count(text, '\n');
}

nlohmann::json json_of(const Ran& ran) {
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << ran.out << ran.err;
  return json;
}

TEST(CheckCommand, AnyNumberOfJobsPrintsTheSame) {
  const std::vector<std::string> words{"check", "add", "argmax", "embed_*", "--seed", "5"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run_assay(more);
  };
  const Ran one = with({"-j", "1"});
  EXPECT_EQ(one.status, 0) << one.out;
  EXPECT_EQ(with({"-j", "3"}).out, one.out);
  EXPECT_EQ(with({"-j", "3", "--json"}).out, with({"--jobs", "1", "--json"}).out);
}

TEST(CheckCommand, JsonHasDigestsOfDrawnCases) {
  const auto json = json_of(run_assay({"check", "add", "--case", "random*", "--seed", "5", "--json"}));
  ASSERT_FALSE(json.at("cases").empty());
  for (const auto& one : json.at("cases")) EXPECT_NE(one.at("digest"), "") << one.at("case");
}

TEST(CheckCommand, PatternsChooseOpsCasesAndVariants) {
  std::set<std::string> ops;
  std::set<std::string> cases;
  std::set<std::string> variants;
  const auto json = json_of(run_assay({"check", "embed_*", "--case", "b*", "--variant", "*_scalar", "--json"}));
  for (const auto& one : json.at("cases")) {
    ops.insert(one.at("op").get<std::string>());
    cases.insert(one.at("case").get<std::string>().substr(0, 1));
    variants.insert(one.at("variant").get<std::string>());
  }
  EXPECT_EQ(ops, (std::set<std::string>{"embed_bf16", "embed_f16", "embed_f32"}));
  EXPECT_EQ(cases, std::set<std::string>{"b"});
  EXPECT_EQ(variants, (std::set<std::string>{"embed_bf16_scalar", "embed_f16_scalar", "embed_f32_scalar"}));
  for (const std::vector<std::string>& none :
       {std::vector<std::string>{"check", "gemm_no*"}, {"check", "add", "--case", "zz*"}, {"check", "add", "--variant", "no*"}}) {
    const Ran ran = run_assay(none);
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, "matches '")) << ran.err;
  }
}

TEST(CheckCommand, SeveralIsas) {
  const auto variants = [](const std::vector<std::string>& isas) {
    std::vector<std::string> words{"check", "add", "--case", "refusals", "--json"};
    words.insert(words.end(), isas.begin(), isas.end());
    std::set<std::string> found;
    const auto json = json_of(run_assay(words));
    for (const auto& one : json.at("cases")) found.insert(one.at("variant").get<std::string>());
    return found;
  };
  EXPECT_EQ(variants({"--isa", "scalar"}), std::set<std::string>{"add_scalar"});
  const std::set<std::string> both = variants({"--isa", "scalar,avx2"});
  EXPECT_EQ(both, (std::set<std::string>{"add_avx2", "add_scalar"}));
  EXPECT_EQ(variants({"--isa", "scalar", "--isa", "avx2"}), both);
  EXPECT_EQ(run_assay({"check", "add", "--isa", "scalar,"}).status, 2);
}

TEST(CheckCommand, WritesTheJsonBesideTheTable) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "report.json").string();
  const Ran ran = run_assay({"check", "add", "--seed", "5", "-o", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "add_scalar")) << ran.out;
  EXPECT_EQ(read_file(file), run_assay({"check", "add", "--seed", "5", "--json"}).out);
}

TEST(CheckCommand, TheColumnsAreExplained) {
  const Ran ran = run_assay({"check", "--explain-columns"});
  EXPECT_EQ(ran.status, 0);
  const Ran table = run_assay({"check", "add", "--case", "refusals"});
  const std::string head = table.out.substr(0, table.out.find('\n'));
  for (const char* column : {"variant", "cases", "compared", "margin", "z", "spread", "layouts", "verdict"}) {
    EXPECT_TRUE(contains(ran.out, std::string("\n") + column + " ")) << column;
    EXPECT_TRUE(contains(head, column)) << head;
  }
  EXPECT_TRUE(contains(table.out, "--explain-columns")) << "the legend";
}

class BadPlugin : public testing::Test {
 protected:
  Ran check(std::vector<std::string> more) const {
    more.insert(more.begin(), "check");
    return run_assay(more, {"XDG_STATE_HOME=" + state_.path().string()});
  }
  Ran made(const std::string& variant, std::vector<std::string> more) const {
    more.insert(more.begin(), {"rms_norm", "--plugin", plugin("bad_plugin"), "--variant", variant, "--shape", "rows=3,n=40"});
    return check(more);
  }
  TemporaryFolder state_;
};

TEST_F(BadPlugin, FailuresOfAKindAreOne) {
  const Ran ran = made("bad:many_ulp", {"--cases", "30"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(contains(ran.out, "30 failed: 30 bound\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "  and 29 more like it: gauss eps=1e-06,n=40,rows=3 seed 2, ")) << ran.out;
  EXPECT_LT(lines(ran.out), 20) << ran.out;
  const Ran all = made("bad:many_ulp", {"--cases", "30", "-v"});
  EXPECT_FALSE(contains(all.out, "more like it")) << all.out;
  EXPECT_GT(lines(all.out), 90);
  const Ran quiet = made("bad:many_ulp", {"--cases", "30", "-q"});
  EXPECT_FALSE(contains(quiet.out, "compared")) << quiet.out;
  EXPECT_TRUE(contains(quiet.out, "30 failed: 30 bound\n")) << quiet.out;
  EXPECT_LT(lines(quiet.out), lines(ran.out));
}

TEST_F(BadPlugin, AWholeOneIsTold) {
  const std::vector<std::string> words{"rms_norm", "--plugin", plugin("bad_plugin"), "--case", "refusals", "--time-limit", "1"};
  const Ran ran = check(words);
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_LT(lines(ran.out), 60) << ran.out;
  std::vector<std::string> fewer(words);
  fewer.insert(fewer.end(), {"--max-failures", "1"});
  const Ran one = check(fewer);
  EXPECT_LT(lines(one.out), lines(ran.out));
  EXPECT_TRUE(contains(one.out, "--max-failures N shows more kinds")) << one.out;
}

TEST_F(BadPlugin, WhatFailedIsRepeated) {
  EXPECT_EQ(check({"--failed"}).status, 2) << "nothing has failed yet";
  ASSERT_EQ(made("bad:*_*", {"--cases", "3", "--checks", "bound", "--seed", "9"}).status, 1);
  const Ran again = check({"--failed", "--json"});
  EXPECT_EQ(again.status, 1) << again.err;
  const auto json = json_of(again);
  EXPECT_EQ(json.at("checks"), "bound");
  ASSERT_FALSE(json.at("cases").empty());
  for (const auto& one : json.at("cases")) {
    EXPECT_EQ(one.at("verdict"), "fail") << one;
    EXPECT_TRUE(contains(one.at("case").get<std::string>(), "seed ")) << one;
  }
  const auto whole = json_of(made("bad:*_*", {"--cases", "3", "--checks", "bound", "--seed", "9", "--json"}));
  EXPECT_EQ(std::ssize(json.at("cases")),
            std::ranges::count_if(whole.at("cases"), [](const auto& one) { return one.at("verdict") == "fail"; }));
  EXPECT_LT(json.at("cases").size(), whole.at("cases").size()) << "what passed is repeated too";
  EXPECT_EQ(check({"--failed", "--case", "bias"}).status, 2) << "it has its own cases";
  ASSERT_EQ(made("bad:good", {}).status, 0);
  EXPECT_EQ(check({"--failed"}).status, 2) << "the last one passed";
}

TEST(CheckCommand, InterruptedItSaysWhatItKnows) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program({"check", "-j", "2"});
    program.await_output();
    program.send(signal);
    const Ran ran = program.wait();
    EXPECT_EQ(ran.status, 128 + signal) << ran.err;
    EXPECT_TRUE(contains(ran.out, "FAIL interrupted: ")) << ran.out;
    EXPECT_TRUE(contains(ran.out, " ops were checked")) << ran.out;
  }
}

TEST(CheckCommand, ShardsDrawAlike) {
  for (const char* const shard : {"1/2", "2/2"}) {
    const auto json = json_of(run_assay({"check", "add", "--case", "random*", "--shard", shard, "--json"}));
    EXPECT_EQ(json.at("seed"), 1) << shard;
  }
}

// A place where nothing can be kept is no failure of the kernels.
TEST(CheckCommand, PassesWhereverItStands) {
  const std::vector<std::string> words{"check", "add", "--isa", "scalar", "--case", "refusals", "-q"};
  for (const std::string home : {"", "/dev/null", "/nonexistent", "relative"}) {
    const Ran ran = run_assay(words, {"HOME=" + home, "XDG_STATE_HOME="});
    EXPECT_EQ(ran.status, 0) << home << ran.err;
    EXPECT_EQ(ran.err, "") << home;
  }
  const Ran gone = run_assay(
      {}, {},
      {{"sh", "-c", "mkdir gone.$$ && cd gone.$$ && rmdir ../gone.$$ && exec \"$0\" check add --isa scalar --case refusals -q"},
       ""});
  EXPECT_EQ(gone.status, 0) << gone.err;
  EXPECT_EQ(gone.err, "");
}

TEST(CheckCommand, RowsComeAsOpsEnd) {
  const auto start = std::chrono::steady_clock::now();
  Program program({"check", "-j", "2"});
  program.await_output("  pass\n");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  program.send(SIGINT);
  const Ran ran = program.wait();
  EXPECT_LT(seconds, 60) << "the whole suite takes longer than its first op";
  EXPECT_TRUE(contains(ran.out, "FAIL interrupted: ")) << ran.out;
}

TEST(CheckCommand, OffATerminalNothingIsRedrawn) {
  for (const char* kind : {"TERM=dumb", "TERM=xterm"}) {
    const Ran ran = run_assay({"check", "add", "--case", "refusals"}, {kind});
    EXPECT_FALSE(contains(ran.out + ran.err, "\r")) << kind;
    EXPECT_FALSE(contains(ran.out + ran.err, "\033")) << kind;
  }
}

// Valgrind's CPU, whatever the one at hand has, lacks AVX-512.
TEST(CheckCommand, WhatTheCpuLacksIsListedOrRefused) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a sanitizer's program does not run under valgrind";
#endif
  if (!std::filesystem::exists("/usr/bin/valgrind")) GTEST_SKIP() << "valgrind is not installed";
  const auto check = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"check", "add", "--case", "cancellation"};
    words.insert(words.end(), more.begin(), more.end());
    return run_assay(words, {}, {{"/usr/bin/valgrind", "-q"}, ""});
  };
  const Ran ran = check({});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "skipped add_avx512: this CPU lacks avx512\n")) << ran.out;
  const Ran refused = check({"--isa", "avx512"});
  EXPECT_EQ(refused.status, 2) << refused.out;
  EXPECT_TRUE(contains(refused.err, "this CPU lacks avx512; it runs scalar, avx2")) << refused.err;
}

TEST(HelpCommand, SaysWhatTheOptionSays) {
  EXPECT_EQ(run_assay({"help", "check"}).out, run_assay({"check", "--help"}).out);
  EXPECT_EQ(run_assay({"help", "ledger", "show"}).out, run_assay({"ledger", "show", "--help"}).out);
  EXPECT_EQ(run_assay({"help"}).out, run_assay({"--help"}).out);
  EXPECT_EQ(run_assay({"-V"}).out, run_assay({"--version"}).out);
  const Ran wrong = run_assay({"help", "chekc"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(contains(wrong.err, "the nearest is 'check'")) << wrong.err;
}

}  // namespace
}  // namespace assay::check_command_test
