// A suite shared out among processes: the same results for any number of them, and what becomes of one that dies or is stopped.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/reports/report.h"
#include "harness/verdict/suite_message.h"
#include "harness/verdict/suite_processes.h"
#include "tests/pair_op.h"

namespace assay::suite_processes_test {
namespace {

CheckRequest request(int jobs) {
  CheckRequest asked;
  asked.ops = {"add", "argmax", "embed_f32"};
  asked.shapes = true;
  asked.random_cases = 20;
  asked.seed = 5;
  asked.jobs = jobs;
  return asked;
}

std::string json_of(const CheckRequest& asked) {
  return suite_json(run_suite(asked), asked).dump(1);
}

TEST(SuiteProcesses, AnyNumberOfThemGivesTheSameReport) {
  const std::string here = json_of(request(0));
  for (const int jobs : {1, 2, 5}) EXPECT_EQ(json_of(request(jobs)), here) << jobs;
}

TEST(SuiteProcesses, ShardsTooAreTheSame) {
  CheckRequest asked = request(0);
  asked.shard = Shard::parse("2/3");
  const std::string here = json_of(asked);
  asked.jobs = 3;
  EXPECT_EQ(json_of(asked), here);
}

TEST(SuiteProcesses, MadeCasesAreSharedOut) {
  CheckRequest asked;
  asked.ops = {"add"};
  asked.generated = GeneratedRequest{{}, "gauss", 7};
  asked.generated_cases = 40;
  const std::string here = json_of(asked);
  asked.jobs = 3;
  EXPECT_EQ(json_of(asked), here);
  const SuitePlan plan(asked);
  std::vector<Skip> skips;
  Trials trials(asked, skips);
  EXPECT_GT(units_of(plan, trials).size(), 1U);
}

class Watching final : public SuiteWatch {
 public:
  explicit Watching(bool stops = false) : stops_(stops) {}
  void begin(const SuiteResult& /*known*/, const std::vector<std::string>& labels) override { labels_ = labels; }
  void op_done(std::span<const CaseResult> cases) override {
    ops_.push_back(cases.front().op);
    for (const CaseResult& one : cases) EXPECT_EQ(one.op, ops_.back());
  }
  bool stop() override { return stops_ && !ops_.empty(); }

  bool stops_;
  std::vector<std::string> labels_;
  std::vector<std::string> ops_;
};

TEST(SuiteProcesses, OpsAreToldInTheSuitesOrder) {
  Watching watch;
  const SuiteResult result = run_suite(request(3), watch);
  EXPECT_EQ(watch.ops_, (std::vector<std::string>{"add", "embed_f32", "argmax"})) << "the order of `assay list`";
  for (const CaseResult& one : result.cases) EXPECT_EQ(std::ranges::count(watch.labels_, one.variant), 1) << one.variant;
}

TEST(SuiteProcesses, AStoppedOneTellsWhatItKnows) {
  for (const int jobs : {0, 2}) {
    Watching watch(true);
    const SuiteResult result = run_suite(request(jobs), watch);
    EXPECT_TRUE(result.interrupted);
    EXPECT_FALSE(result.passed());
    EXPECT_FALSE(result.cases.empty());
    ASSERT_EQ(result.faults.size(), 1U);
    EXPECT_NE(result.faults[0].find("of 3 ops were checked"), std::string::npos) << result.faults[0];
  }
}

// The children of this process, by /proc.
std::vector<pid_t> children() {
  std::ifstream in("/proc/self/task/" + std::to_string(gettid()) + "/children");
  std::vector<pid_t> all;
  for (pid_t one = 0; in >> one;) all.push_back(one);
  return all;
}

TEST(SuiteProcesses, NoChildIsLeft) {
  const std::vector<pid_t> before = children();
  Watching stops(true);
  run_suite(request(2), stops);
  run_suite(request(2));
  EXPECT_EQ(children(), before);
}

// Ends the first process that it sees.
class Killer final : public SuiteWatch {
 public:
  bool stop() override {
    const std::vector<pid_t> all = children();
    if (!killed_ && !all.empty()) {
      kill(all.front(), SIGKILL);
      killed_ = true;
    }
    return false;
  }
  bool killed_ = false;
};

TEST(SuiteProcesses, OneThatDiesIsAFaultAndTheOthersGoOn) {
  Killer killer;
  const SuiteResult result = run_suite(request(2), killer);
  EXPECT_TRUE(killer.killed_);
  EXPECT_FALSE(result.passed());
  ASSERT_FALSE(result.faults.empty());
  EXPECT_NE(result.faults[0].find("the process that checked it ended by signal 9"), std::string::npos) << result.faults[0];
  std::set<std::string> ops;
  for (const CaseResult& one : result.cases) ops.insert(one.op);
  EXPECT_GE(ops.size(), 2U);
}

// Ends all, once some cases are done.
class LateKiller final : public SuiteWatch {
 public:
  void progress(const SuiteProgress& now) override {
    if (killed_ || now.cases_done < 20) return;
    killed_ = true;
    for (const pid_t one : children()) kill(one, SIGKILL);
  }
  bool killed_ = false;
};

TEST(SuiteProcesses, OneThatDiesAfterACaseIsAFaultToo) {
  LateKiller killer;
  const SuiteResult result = run_suite(request(2), killer);
  EXPECT_TRUE(killer.killed_);
  EXPECT_FALSE(result.passed());
  EXPECT_TRUE(std::ranges::any_of(result.faults, [](const std::string& one) { return one.find(", after case ") != one.npos; }));
}

// A kernel ends the process in the middle of its cases.
TEST(SuiteProcesses, WhatOneThatDiesHadSaidIsKept) {
  CheckRequest asked;
  asked.ops = {"add"};
  asked.generated = GeneratedRequest{pair_op::kGaps, "gauss", 7};
  const SuitePlan plan(asked);
  const Unit unit{.op = &pair_op::kPair, .kinds = {Kind::generated}, .first = false, .dealt = 0, .to = 12};
  std::atomic<int> calls = 0;
  int last = -1;
  pair_op::on_trial = pair_op::and_then([&](const PairArgs&) {
    if (++calls == last) raise(SIGKILL);
  });
  std::vector<int> calls_until;  // each case was done
  std::vector<Skip> skips;
  Trials trials(asked, skips);
  run_unit(plan, unit, trials,
           {[](std::int64_t) {}, [&](const CaseResult&) { calls_until.push_back(calls); }, [] { return false; }});
  ASSERT_EQ(calls_until.size(), 24U);

  last = calls_until[11] + 1;
  calls = 0;
  int said = 0;
  std::string lost;
  run_in_processes(plan, {&unit, 1}, 1,
                   {.started = [](std::size_t) {},
                    .said = [&](std::size_t, const SuiteMessage& one) { said += one.what == SuiteMessage::What::done ? 1 : 0; },
                    .lost = [&](std::size_t, const std::string& how) { lost = how; },
                    .tick = [] {},
                    .stop = [] { return false; }});
  EXPECT_EQ(lost, "ended by signal 9 (Killed)");
  EXPECT_EQ(said, std::ranges::count_if(calls_until, [&](int before) { return before < last; }));
}

TEST(SuiteProcesses, WhatBefellACaseIsTold) {
  SuiteMessage message{.what = SuiteMessage::What::done};
  message.one.op = "add";
  message.one.crashed = message.one.trivial = message.one.in_ledger = message.one.drawn = true;
  message.one.failure = Failure{Check::guard, "raised SIGSEGV"};
  message.one.margin = 0.5;
  message.one.spread = 2;
  message.one.stability = "stable";
  const CaseResult told = message_from(to_bytes(message)).one;
  EXPECT_TRUE(told.crashed && told.trivial && told.in_ledger && told.drawn);
  ASSERT_TRUE(told.failure);
  EXPECT_EQ(told.failure->message, "raised SIGSEGV");
  EXPECT_EQ(told.margin, 0.5);
  EXPECT_EQ(told.spread, 2);
  EXPECT_EQ(told.stability, "stable");
}

TEST(SuiteProcesses, WhatOneThrowsIsThrown) {
  CheckRequest asked = request(2);
  asked.generated = GeneratedRequest{{{"no_such_size", std::int64_t{5}}}, "gauss", 1};
  try {
    run_suite(asked);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_size"), std::string::npos) << error.what();
  }
}

TEST(SuiteMessages, ComeBackAsTheyWere) {
  SuiteMessage message{.what = SuiteMessage::What::done};
  CaseResult& one = message.one;
  one.op = "add";
  one.tags = {"real", "trivial"};
  one.verdict = Verdict::fail;
  one.margin = std::numeric_limits<double>::infinity();
  one.z = std::numeric_limits<double>::quiet_NaN();
  one.failure = Failure{Check::bits, "y[0]"};
  one.seed = std::numeric_limits<std::uint64_t>::max();
  one.params = {{"n", std::int64_t{-3}}, {"eps", 2.0}, {"pairing", std::string("neox")}};
  const std::string bytes = to_bytes(message);
  SuiteMessage back = message_from(bytes);
  EXPECT_EQ(to_bytes(back), bytes);
  EXPECT_EQ(back.one.failure->message, "y[0]");
  EXPECT_EQ(back.one.params.to_string(), one.params.to_string());
  EXPECT_EQ(back.one.seed, one.seed);
}

// A kernel may have written over what the other process says.
TEST(SuiteMessages, GarbledOnesAreRefused) {
  SuiteMessage message{.what = SuiteMessage::What::error, .error = "what was thrown"};
  const std::string bytes = to_bytes(message);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(message_from(std::string_view(bytes).substr(0, size)), std::runtime_error) << size;
  std::string other = bytes;
  other[0] = 77;
  EXPECT_THROW(message_from(other), std::runtime_error);
}

}  // namespace
}  // namespace assay::suite_processes_test
