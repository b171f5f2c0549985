// One golden file of one case: held to its truth, its canonical bits and its manifest, or refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "golden/hdf5_writer.h"
#include "golden/manifest.h"
#include "golden/sha256.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::one_golden_test {
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

TEST(OneGolden, ItsCanonicalBitsAreHeld) {
  const auto with_bits = [](float last) {
    return sum_of([last](Hdf5Writer& file, const std::string& group) {
      write_truth(file, group, {4, 6});
      file.make_group(group + "/canonical");
      file.write(group + "/canonical/y", DType::f32, {2}, bytes_of({4, last}));
    });
  };
  EXPECT_TRUE(with_bits(6).run().passed());
  const OneCase other = with_bits(std::nextafter(6.0F, 7.0F));
  const SuiteResult result = other.run();
  EXPECT_EQ(check_name(other.failure(result).check), check_name(Check::bits));
}

TEST(OneGolden, OneThatItsManifestDisownsIsRefused) {
  const OneCase right = sum_of([](Hdf5Writer& file, const std::string& group) { write_truth(file, group, {4, 6}); });
  const auto manifest_with = [&](const std::string& sum) {
    nlohmann::json json{{"schema", 1}, {"files", nlohmann::json::object()}};
    if (!sum.empty()) json["files"]["one.h5"] = {{"sha256", sum}};
    std::ofstream(right.path().parent_path() / "MANIFEST.json") << json;
    return Manifest(right.path().parent_path());
  };
  std::string sum = sha256_file(right.path());
  EXPECT_TRUE(manifest_with(sum).verify(right.path()));
  EXPECT_FALSE(manifest_with("").verify(right.path())) << "it is not listed";
  sum.back() = sum.back() == '0' ? '1' : '0';
  expect_mentions(message_of([&] { manifest_with(sum).verify(right.path()); }),
                  {"one.h5", "MANIFEST.json says " + sum.substr(0, 8)});
}

}  // namespace
}  // namespace assay::one_golden_test
