// The cases of every op have among them what steers its kernels, sizes in use, and all that the ledger remembers.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/verdict/coverage.h"
#include "harness/verdict/ledger.h"
#include "harness/verdict/suite.h"
#include "harness/verdict/vast.h"

namespace assay::coverage_test {
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

// What is asked, or told to be too dear, has one that wishes this alone, from `first` or at most `within` later on.
bool wished(const Coverage& coverage, const std::string& size, std::int64_t first, std::int64_t within = 0) {
  const auto alone = [&](const Requirement& one) {
    const Wish& wish = one.wishes.front();
    return one.wishes.size() == 1 && wish.param == size && wish.least >= first && wish.least <= first + within &&
           wish.most >= wish.least;
  };
  return std::ranges::any_of(coverage.requirements, alone) || std::ranges::any_of(coverage.too_dear, alone);
}

TEST(Coverage, BothSidesOfEveryConstantAreAsked) {
  std::int64_t largest = 0;
  for (const Op* op : ops()) {
    const Coverage coverage(*op);
    for (const Size& size : coverage.space.sizes) {
      for (const Border& border : size.borders) {
        const std::int64_t at = border.at() / size.unit * size.unit;
        const std::int64_t within = border.is_counter() ? 64 * size.unit : 0;  // a few vectors wrap
        if (at == 0 || border.at() > size.limit) continue;
        EXPECT_TRUE(border.is_counter() || wished(coverage, size.name, at)) << op->name << ": " << size.name << " = " << at;
        if (at + size.unit + within > size.limit) continue;
        EXPECT_TRUE(wished(coverage, size.name, at + size.unit, within)) << op->name << ": " << size.name << " past " << at;
        largest = std::max(largest, at);
      }
    }
  }
  EXPECT_GT(largest, 4096);
  const Coverage counted(*find_op("argmax"));
  const auto past = [](const Requirement& one) { return one.what == "n past 65536"; };
  EXPECT_TRUE(std::ranges::any_of(counted.requirements, past));
}

TEST(Coverage, AWishIsGrantedWithinItsRangeAlone) {
  const Coverage coverage(require_op("argmax"));
  const auto met = [&](const char* what, std::int64_t n) {
    const auto one = std::ranges::find(coverage.requirements, what, &Requirement::what);
    return one != coverage.requirements.end() && one->met({{"n", n}});
  };
  struct Wished {
    const char* what;
    std::vector<std::int64_t> granted, refused;
  };
  const Wished wished[] = {{"n = 3", {3}, {2, 4, 19}},
                           {"n from 20 to 32", {20, 27, 32}, {19, 33, 40}},
                           {"n of whole units, 5 mod 16", {21, 37}, {5, 20, 22, 36}}};
  for (const Wished& one : wished) {
    for (const std::int64_t n : one.granted) EXPECT_TRUE(met(one.what, n)) << one.what << ": " << n;
    for (const std::int64_t n : one.refused) EXPECT_FALSE(met(one.what, n)) << one.what << ": " << n;
  }
}

TEST(Coverage, EveryKindOfRequirementIsAsked) {
  std::string all;
  for (const Op* op : ops()) {
    const Coverage coverage(*op);
    for (const Requirement& one : coverage.requirements) all += one.what + "\n";
  }
  for (const char* const kind : {", in use",
                                 " up to ",
                                 " past ",
                                 " past 3 x ",
                                 " up to 2 x ",
                                 " of whole units, 15 mod 16",
                                 " past 40000, 7 mod 16",
                                 " = 16\n",
                                 " dense\n",
                                 " beside dense",
                                 " past a vector from dense",
                                 " far from dense",
                                 " = 0, one row for all",
                                 " short, k short",
                                 " long, k short",
                                 " short, k long",
                                 " long, k long",
                                 " with more than a vector of ",
                                 "every size 32",
                                 " alone\n"})
    EXPECT_NE(all.find(kind), std::string::npos) << kind;
}

// A model's sizes and the ways to see a view: none is lost because the op does not take it.
TEST(Coverage, WhatMustOccurTogetherIsAsked) {
  std::size_t asked = 0;
  for (const Op* op : ops()) {
    const Coverage coverage(*op);
    for (const Params& call : coverage.space.together) {
      const auto same = [&](const Requirement& one) { return one.what == call.to_string(); };
      EXPECT_TRUE(std::ranges::any_of(coverage.requirements, same)) << op->name << ": " << call.to_string();
      ++asked;
    }
  }
  EXPECT_GT(asked, 100U);
}

bool some_call(const char* op, bool (*wanted)(const Params& call)) {
  return std::ranges::any_of(covering_params(*find_op(op)), wanted);
}

TEST(Coverage, ViewsAreSeenInEveryWayWithEachOther) {
  const auto past_the_end = [](const Params& call) {
    const std::int64_t end = call.integer_or("first_position", 0) + call.integer("length");
    return call.integer_or("window", 0) > 0 && call.integer_or("position", 0) >= end && call.integer("span_positions") > 0;
  };
  const auto whole_with_a_tail = [](const Params& call) {
    return call.integer("causal") == 0 && call.integer("length") % 16 != 0 && call.integer("span_positions") == 16 &&
           call.integer("rows") > 16;
  };
  const auto gemma = [](const Params& call) {
    return call.integer("group") == 2 && call.integer("head_dim") == 256 && call.integer_or("window", 0) == 1024 &&
           call.integer("length") > 1024;
  };
  EXPECT_TRUE(some_call("attn_decode_f16", past_the_end));
  EXPECT_TRUE(some_call("attn_prefill_f32", whole_with_a_tail));
  EXPECT_TRUE(some_call("attn_decode_f16", gemma));
}

TEST(Coverage, WholeVectorsAreTriedWithAndWithoutGaps) {
  for (const Op* op : ops()) {
    const Coverage coverage(*op);
    const auto asked = [&](std::string_view what) {
      return std::ranges::any_of(coverage.requirements, [&](const Requirement& one) { return one.what == what; });
    };
    EXPECT_TRUE(asked("whole vectors everywhere, gaps from 0 on")) << op->name;
    EXPECT_TRUE(asked("whole vectors everywhere, gaps from 33 on")) << op->name;
    EXPECT_EQ(asked("one left everywhere"), asked("every size 32")) << op->name;  // some sizes may not be alike
  }
}

TEST(Coverage, AFewSequencesAtOnceAreTried) {
  const auto few = [](const Params& call) {
    return call.integer("m") > 8 && call.integer("m") < 16 && call.integer("n") > 1024 && call.integer("k") > 1024;
  };
  const std::vector<Params> vast = vast_params(*find_op("gemm_q8_0_q8_0"), kRandomWork);
  EXPECT_TRUE(std::ranges::any_of(vast, few));
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
}  // namespace assay::coverage_test
