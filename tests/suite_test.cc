// What a suite runs: everything that is asked for, of goldens that are what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "golden/hdf5_writer.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay {
namespace {

std::vector<std::uint8_t> bytes_of(const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A golden file with one case of n = 2: the inputs are [1, 2], [3, 4]; the rest of the case is written by `rest`.
class OneCase {
 public:
  using Spoil = std::function<void(Hdf5Writer&, const std::string& group)>;
  OneCase(const std::string& op, const std::vector<std::string>& inputs, const Spoil& rest) : op_(op) {
    Hdf5Writer file(path(), Hdf5Writer::Format::v108);
    file.set_attribute("/", "schema", std::int64_t{1});
    file.set_attribute("/", "op", op);
    file.make_group("/cases");
    const std::string group = "/cases/one";
    file.make_group(group);
    file.make_group(group + "/params");
    file.set_attribute(group + "/params", "n", std::int64_t{2});
    file.make_group(group + "/inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto first = static_cast<float>(2 * i);
      file.write(group + "/inputs/" + inputs[i], DType::f32, {2}, bytes_of({first + 1, first + 2}));
    }
    file.make_group(group + "/truth");
    rest(file, group);
    file.commit();
  }
  std::filesystem::path path() const { return folder_.path() / "one.h5"; }
  SuiteResult run() const {
    CheckRequest request;
    request.ops = {op_};
    request.golden = folder_.path();
    return run_suite(request);
  }
  const Failure& failure(const SuiteResult& result) const {
    static const Failure none{Check::guard, "passes"};
    for (const CaseResult& one : result.cases) {
      if (one.failure) return *one.failure;
    }
    return none;
  }

 private:
  TemporaryFolder folder_;
  std::string op_;
};

OneCase sum_of(const OneCase::Spoil& rest) {
  return {"add", {"a", "b"}, rest};
}
void write_truth(Hdf5Writer& file, const std::string& group, const std::vector<double>& truth, const std::string& name = "y") {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(truth.data());
  file.write(group + "/truth/" + name, DType::f64, {std::ssize(truth)}, {bytes, 8 * truth.size()});
}
void write_index(Hdf5Writer& file, const std::string& group, const std::vector<std::int64_t>& index) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(index.data());
  file.write(group + "/truth/y.index", DType::i64, {std::ssize(index)}, {bytes, 8 * index.size()});
}

TEST(OneGolden, IsHeldToItsTruth) {
  EXPECT_TRUE(sum_of([](Hdf5Writer& file, const std::string& group) { write_truth(file, group, {4, 6}); }).run().passed());
  EXPECT_FALSE(sum_of([](Hdf5Writer& file, const std::string& group) { write_truth(file, group, {4, 7}); }).run().passed());
  const auto kept = [](double truth, std::int64_t at) {
    return sum_of([=](Hdf5Writer& file, const std::string& group) {
      write_truth(file, group, {truth});
      write_index(file, group, {at});
    });
  };
  EXPECT_TRUE(kept(6, 1).run().passed());
  EXPECT_FALSE(kept(4, 1).run().passed());
}

TEST(OneGolden, ExactBytesAreHeldToItsTruthAndNotToOurReferenceAlone) {
  const auto halves = [](std::uint8_t last) {
    return OneCase("convert_f32_f16", {"src"}, [last](Hdf5Writer& file, const std::string& group) {
      const std::vector<std::uint8_t> truth{0, 0x3c, last, 0x40};
      file.write(group + "/truth/dst", DType::f16, {2}, truth);
    });
  };
  EXPECT_TRUE(halves(0).run().passed());
  const OneCase other = halves(1);
  const SuiteResult result = other.run();
  EXPECT_EQ(check_name(other.failure(result).check), check_name(Check::exact));
}

TEST(OneGolden, WhatDoesNotFitTheOpIsRefused) {
  const std::pair<const char*, OneCase::Spoil> wrong[] = {
      {"holds no truth", [](Hdf5Writer&, const std::string&) {}},
      {"truth of 'y' is [3]",
       [](Hdf5Writer& file, const std::string& group) {
         write_truth(file, group, {1, 2, 3});
       }},
      {"no output 'z'",
       [](Hdf5Writer& file, const std::string& group) {
         write_truth(file, group, {4, 6}, "z");
       }},
      {"index 2 of 'y'",
       [](Hdf5Writer& file, const std::string& group) {
         write_truth(file, group, {6});
         write_index(file, group, {2});
       }},
      {"as many int64",
       [](Hdf5Writer& file, const std::string& group) {
         write_truth(file, group, {4, 6});
         write_index(file, group, {1});
       }},
      {"status",
       [](Hdf5Writer& file, const std::string& group) {
         write_truth(file, group, {4, 6});
         file.set_attribute(group, "status", std::string("fine"));
       }},
  };
  for (const auto& [words, rest] : wrong) expect_mentions(message_of([&] { sum_of(rest).run(); }), {words});
}

TEST(OneGolden, ARefusalThatIsAskedForMustCome) {
  const OneCase refused = sum_of([](Hdf5Writer& file, const std::string& group) {
    write_truth(file, group, {4, 6});
    file.set_attribute(group, "status", std::string("bad_shape"));
  });
  const SuiteResult result = refused.run();
  expect_mentions(refused.failure(result).message, {"returned ok; expected bad_shape"});
}

TEST(OneGolden, GeneratedBytesAreHeldToTheirDigest) {
  const OneCase other("convert_f32_f16", {}, [](Hdf5Writer& file, const std::string& group) {
    const std::string input = group + "/inputs/src";
    file.make_group(input);
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {"generator", "philox4x32-10"}, {"distribution", "gauss"}, {"dtype", "f32"}, {"sha256", std::string(64, '0')}}) {
      file.set_attribute(input, name, value);
    }
    for (const char* number : {"seed", "stream"}) file.set_attribute(input, number, std::int64_t{1});
    file.set_attribute(input, "shape", std::int64_t{2});
    file.write(group + "/truth/dst", DType::f16, {2}, std::vector<std::uint8_t>(4));
  });
  expect_mentions(message_of([&] { other.run(); }), {"generated bytes have sha256"});
}

// Where zeros are the truth, a kernel that returns them is not trusted for it, whatever the case says of itself.
TEST(OneGolden, ATrivialCaseAloneIsAFault) {
  const OneCase zeros("convert_f32_f16", {}, [](Hdf5Writer& file, const std::string& group) {
    file.set_attribute(group, "tags", std::string("trivial"));
    file.write(group + "/inputs/src", DType::f32, {2}, bytes_of({0, 0}));
    file.write(group + "/truth/dst", DType::f16, {2}, std::vector<std::uint8_t>(4));
  });
  const SuiteResult result = zeros.run();
  ASSERT_FALSE(result.cases.empty());
  EXPECT_TRUE(std::ranges::all_of(result.cases, &CaseResult::trivial));
  ASSERT_FALSE(result.faults.empty());
  expect_mentions(result.faults.front(), {"no case that a kernel returning zeros would fail"});
}

TEST(Suite, AFileOfAnotherOpHasNoCase) {
  CheckRequest request;
  request.ops = {"rms_norm"};
  request.file = own_golden() / "ops" / "add.h5";
  const SuiteResult result = run_suite(request);
  EXPECT_TRUE(result.cases.empty());
  EXPECT_FALSE(result.passed());
}

TEST(Suite, AnOpWithoutAGoldenIsAFault) {
  const TemporaryFolder data;
  std::filesystem::create_directories(data.path() / "golden" / "ops");
  std::filesystem::copy(own_golden() / "ops" / "add.h5", data.path() / "golden" / "ops");
  std::filesystem::copy(ledger_path(), data.path() / "golden");
  const char* const before = std::getenv("ASSAY_DATA");
  const std::string kept = before == nullptr ? "" : before;
  setenv("ASSAY_DATA", data.path().c_str(), 1);
  CheckRequest request;
  request.ops = {"argmax"};
  const SuiteResult result = run_suite(request);
  before == nullptr ? unsetenv("ASSAY_DATA") : setenv("ASSAY_DATA", kept.c_str(), 1);
  EXPECT_EQ(std::ranges::count(result.faults, "argmax: has no golden"), 1);
}

TEST(Suite, AProcessThatRoundsOtherwiseChecksNothing) {
  CheckRequest request;
  request.ops = {"argmax"};
  std::fesetround(FE_UPWARD);
  const std::string message = message_of([&] { run_suite(request); });
  std::fesetround(FE_TONEAREST);
  expect_mentions(message, {"round"});
}

TEST(OneGolden, OneThatItsManifestDisownsIsRefused) {
  const OneCase right = sum_of([](Hdf5Writer& file, const std::string& group) { write_truth(file, group, {4, 6}); });
  nlohmann::json json{{"schema", 1}};
  json["files"]["one.h5"] = {{"sha256", std::string(64, '0')}};
  std::ofstream(right.path().parent_path() / "MANIFEST.json") << json;
  expect_mentions(message_of([&] { right.run(); }), {"one.h5", "MANIFEST.json says 000"});
}

TEST(Suite, RunsEveryCaseOnEveryVariant) {
  for (const auto& [name, seeded] : {std::pair("add", true), std::pair("rope_table", false), std::pair("kv_store_f16", false)}) {
    CheckRequest request;
    request.ops = {name};
    const SuiteResult result = run_suite(request);
    EXPECT_TRUE(result.passed()) << name;
    ASSERT_EQ(result.known.size(), 1U);
    const std::set<std::string> known(result.known.at(name).begin(), result.known.at(name).end());
    std::vector<std::string> kept =
        GoldenFile(own_golden() / "ops" / (std::string(name) + ".h5"), Hdf5Origin::known).case_names();
    if (seeded) kept.emplace_back("bias");
    std::map<std::string, std::set<std::string>> ran;
    std::set<std::string> in_ledger;
    for (const CaseResult& one : result.cases) {
      EXPECT_TRUE(ran[one.variant].insert(one.case_name).second) << one.variant << " " << one.case_name;
      if (one.in_ledger) in_ledger.insert(one.case_name);
    }
    for (const std::string& one : kept) EXPECT_TRUE(known.contains(one) && in_ledger.contains(one)) << name << " " << one;
    std::set<std::string> skipped;
    for (const Skip& skip : result.skips) skipped.insert(skip.what);
    for (const Variant& variant : variants_of(require_op(name))) {
      const bool runs = isa_supported(variant.isa);
      EXPECT_EQ(ran[variant.name], runs ? known : std::set<std::string>()) << variant.name;
      EXPECT_EQ(skipped.contains(variant.name), !runs) << variant.name;
    }
  }
}

TEST(Suite, RunsWhatIsAskedForAlone) {
  CheckRequest request;
  request.ops = {"argmax"};
  request.isa = Isa::scalar;
  for (const CaseResult& one : run_suite(request).cases) EXPECT_EQ(one.variant, "argmax_scalar");
  request.generated = GeneratedRequest{{}, "gauss", 7};
  request.generated_cases = 5;
  const SuiteResult made = run_suite(request);
  std::set<std::uint64_t> seeds;
  for (const CaseResult& one : made.cases) seeds.insert(*one.seed);
  EXPECT_EQ(seeds, (std::set<std::uint64_t>{7, 8, 9, 10, 11}));
  request.ops.clear();
  request.generated_cases = 1;
  request.checks = Checks::parse("classes,bound,exact");  // one call each
  std::set<std::string> ops;
  for (const CaseResult& one : run_suite(request).cases) ops.insert(one.op);
  EXPECT_EQ(ops.size(), op_names().size());
}

TEST(Suite, NothingComparedOrTrustedIsAFault) {
  const auto faults = [](VariantTally tally, bool expected) { return tally_faults({{"v", tally}}, expected, {}).size(); };
  EXPECT_EQ(faults({10, 1}, true), 0U);
  EXPECT_EQ(faults({10, 0}, true), 1U);
  EXPECT_EQ(faults({10, 0}, false), 0U);
  EXPECT_EQ(faults({0, 1}, true), 1U);
  SuiteResult result;
  result.cases.emplace_back();
  EXPECT_TRUE(result.passed());
  result.faults = {"nothing"};
  EXPECT_FALSE(result.passed());
  result.faults.clear();
  for (const Verdict verdict : {Verdict::fail, Verdict::mistrusted}) {
    result.cases.emplace_back().verdict = verdict;
    EXPECT_FALSE(result.passed());
    result.cases.pop_back();
  }
}

// Of many made cases: sizes beside vector widths and others, small and large; gaps and none; each choice.
TEST(MadeCases, DrawWhatTheirShapesAllow) {
  const std::set<std::int64_t> edges{2, 8, 10, 16, 18, 32, 34, 64, 66, 128, 130};  // of the even ones
  constexpr int kCases = 300;
  std::set<std::int64_t> widths;
  std::set<std::string> pairings;
  int at_edges = 0;
  int gaps = 0;
  for (int seed = 1; seed <= kCases; ++seed) {
    const Params params = generated_test_case(require_op("rope"), {{}, "gauss", static_cast<std::uint64_t>(seed)}).params;
    const std::int64_t width = params.integer("head_dim");
    widths.insert(width);
    at_edges += edges.contains(width) ? 1 : 0;
    gaps += params.has("x_head_stride") && params.integer("x_head_stride") > width ? 1 : 0;
    pairings.insert(params.text("pairing"));
  }
  EXPECT_GT(widths.size(), 40U);
  EXPECT_GT(*widths.rbegin(), 140);
  EXPECT_GT(at_edges, kCases / 4);
  EXPECT_LT(at_edges, kCases * 9 / 10);
  EXPECT_GT(gaps, kCases / 4);
  EXPECT_LT(gaps, kCases * 3 / 4);
  EXPECT_EQ(pairings.size(), 3U);
}

TEST(MadeCases, HoldTheDataAskedFor) {
  const auto inputs = [](const char* op, const Params& shape, const char* data) {
    return generated_test_case(require_op(op), {shape, data, 3}).inputs;
  };
  const Params shape{{"n", std::int64_t{256}}};
  const std::vector<Array> wide = inputs("add", shape, "wide");
  EXPECT_NE(wide[0].bytes, wide[1].bytes) << "each input has numbers of its own";
  const auto any = [](const Array& array, const auto& what) {
    return std::any_of(array.as<float>(), array.as<float>() + array.elements(), what);
  };
  EXPECT_TRUE(any(wide[0], [](float x) { return std::fabs(x) > 0x1p18F; }));
  const std::vector<Array> denormal = inputs("add", shape, "denormal");
  EXPECT_FALSE(any(denormal[0], [](float x) { return std::fabs(x) >= 0x1p-126F; }));
  EXPECT_TRUE(any(denormal[0], [](float x) { return x != 0; }));
  EXPECT_TRUE(any(inputs("add", {{"n", std::int64_t{4096}}}, "bits")[0], [](float x) { return std::isnan(x); }));
  const std::vector<Array> packed = inputs("gemv_q8_0_x16_q8_0", {{"n", std::int64_t{48}}, {"k", std::int64_t{64}}}, "gauss");
  const std::vector<std::uint8_t>& weights = packed[0].bytes;
  EXPECT_LT(std::count(weights.begin(), weights.end(), 0), std::ssize(weights) / 8);
  const std::vector<std::uint8_t>& x = packed[1].bytes;
  for (std::size_t block = 0; block < x.size(); block += 34) EXPECT_EQ(std::count(&x[block + 2], &x[block] + 34, 0x80), 0);
}

}  // namespace
}  // namespace assay
