// The cases of every op have among them what steers its kernels, sizes in use, and all that the ledger remembers.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/verdict/coverage.h"
#include "harness/verdict/ledger.h"
#include "harness/verdict/suite.h"

namespace assay {
namespace {

TEST(Coverage, EveryRequirementOfEveryOpIsMetByACaseOfTheDefaultCheck) {
  for (const Op* op : ops()) {
    const Coverage coverage(*op);
    EXPECT_GE(coverage.requirements.size(), 16U) << op->name;
    for (const std::string& what : coverage.uncovered(covering_params(*op))) ADD_FAILURE() << op->name << ": uncovered: " << what;
  }
}

// A case that is taken away uncovers something: no case is there for nothing.
TEST(Coverage, EveryCaseCoversWhatNoOtherDoes) {
  for (const Op* op : ops()) {
    const Coverage coverage(*op);
    std::vector<Params> calls = covering_params(*op);
    ASSERT_FALSE(calls.empty()) << op->name;
    calls.pop_back();
    EXPECT_FALSE(coverage.uncovered(calls).empty()) << op->name;
  }
}

// What long runs hold beyond that needs no more than they may cost.
TEST(Coverage, LongRunsMeetEveryRequirement) {
  for (const Op* op : ops()) {
    const Coverage coverage(*op, true);
    for (const std::string& what : coverage.uncovered(covering_params(*op, true)))
      ADD_FAILURE() << op->name << ": uncovered: " << what;
  }
}

// What is left out for its cost is told, and costs more: long runs hold it where they can.
TEST(Coverage, WhatIsTooDearIsTold) {
  std::size_t dear = 0;
  for (const Op* op : ops()) {
    const Coverage coverage(*op);
    const Coverage of_long(*op, true);
    dear += coverage.too_dear.size();
    for (const Requirement& one : coverage.too_dear) {
      EXPECT_GT(work_of(*op, one.cheapest), one.work) << op->name << ": " << one.what;
      const auto same = [&](const Requirement& other) { return other.what == one.what; };
      EXPECT_TRUE(std::ranges::any_of(of_long.requirements, same) || std::ranges::any_of(of_long.too_dear, same))
          << op->name << ": " << one.what;
    }
  }
  EXPECT_GT(dear, 0U);
}

// Truth from outside is in the goldens alone: each op has its own, with every case that the ledger remembers.
TEST(Coverage, EveryGoldenCaseOfTheLedgerIsThere) {
  std::map<std::string, std::vector<std::string>> held;
  for (const auto& path : golden_files(own_golden())) {
    const GoldenFile file(path, Hdf5Origin::known);
    std::ranges::copy(file.case_names(), std::back_inserter(held[file.op()]));
  }
  const Ledger ledger(ledger_path());
  for (const Op* op : ops()) {
    EXPECT_TRUE(held.contains(op->name)) << op->name << ": uncovered: truth from outside (golden/ops/" << op->name << ".h5)";
    const auto remembered = ledger.digests().find(op->name);
    ASSERT_NE(remembered, ledger.digests().end()) << op->name;
    for (const auto& [name, digest] : remembered->second) {
      const std::vector<std::string>& names = held[op->name];
      EXPECT_TRUE(name == "bias" || std::ranges::find(names, name) != names.end())
          << op->name << ": uncovered: golden case " << name;
    }
  }
}

// From the smallest to the largest, and the odd ones between.
TEST(Models, HaveTheSizesInUse) {
  const auto has = [](Column column, std::vector<std::int64_t> wanted) {
    const std::vector<std::int64_t> values = values_in_use({column});
    for (const std::int64_t one : wanted) EXPECT_TRUE(std::ranges::binary_search(values, one)) << one;
  };
  has(Column::ffn, {768, 2880, 18944, 53248});
  has(Column::vocab, {32000, 151936, 201088, 262144});
  has(Column::heads, {14, 28, 128});
  has(Column::group, {1, 2, 3, 4, 5, 6, 7, 8, 12, 16});
  has(Column::head_dim, {64, 80, 96, 112, 128, 192, 256});
  has(Column::window, {128, 512, 1024, 4096});
  has(Column::positions, {131072});
}

}  // namespace
}  // namespace assay
