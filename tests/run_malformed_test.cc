// Every malformed model through the program: exit 2 and a message with the file and the fault, from `plan` and from `run`.
#include <gtest/gtest.h>

#include "tests/malformed/store.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::run_malformed_test {
namespace {

void expect_refused(const Ran& ran, const malformed::Case& wrong, const char* command) {
  EXPECT_EQ(ran.status, 2) << command << ": " << ran.err;
  EXPECT_EQ(ran.out, "") << command;
  EXPECT_TRUE(ran.err.starts_with("assay: ")) << command << ": " << ran.err;
  const std::string fault = "[" + std::string(fault_name(wrong.fault)) + "]\n";
  EXPECT_TRUE(ran.err.ends_with(fault)) << command << ": " << ran.err << "lacks " << fault;
  EXPECT_NE(ran.err.find(wrong.mentions), std::string::npos) << command << ": " << ran.err << "lacks " << wrong.mentions;
}

TEST(RunMalformed, EachIsRefusedByPlanAndByRun) {
  const TemporaryFolder folder;
  int refused = 0;
  for (const malformed::Case& wrong : malformed::all_cases()) {
    SCOPED_TRACE(wrong.name);
    const std::string path = malformed::store(wrong, folder.path());
    Program plan({"plan", path});
    Program run({"run", path, "-p", "x"});
    expect_refused(plan.wait(), wrong, "plan");
    expect_refused(run.wait(), wrong, "run");
    std::filesystem::remove_all(folder.path() / wrong.name);
    ++refused;
  }
  EXPECT_GE(refused, 200);
}

TEST(RunMalformed, WhatTheyWereMadeFromIsPlanned) {
  const TemporaryFolder folder;
  for (const malformed::Case& right : malformed::right_files()) {
    const Ran ran = run_assay({"plan", malformed::store(right, folder.path())});
    EXPECT_EQ(ran.status, 0) << right.name << ": " << ran.err;
  }
}

}  // namespace
}  // namespace assay::run_malformed_test
