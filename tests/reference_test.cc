// Each reference is held to the goldens before a kernel is held to it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/element_text.h"
#include "harness/verdict/suite.h"
#include "reference/encode_k.h"
#include "tests/named_tests.h"

namespace assay {
namespace {

// The share of a bound that a reference may use up (docs/numerics.md, "References").
constexpr double kShare = 0x1p-20;

void compare_value(const std::string& where, double reference, double truth, double bound) {
  if (std::isnan(truth)) {
    EXPECT_TRUE(std::isnan(reference)) << where << ": reference " << reference << ", golden NaN";
  } else if (std::isinf(truth) || std::isinf(reference)) {
    EXPECT_EQ(reference, truth) << where;
  } else {
    EXPECT_LE(std::fabs(reference - truth), kShare * bound) << where << ": reference " << reference << ", golden " << truth;
  }
}

// The flat index of the k-th output that the golden keeps.
std::int64_t kept_index(const Kept& kept, std::int64_t k) {
  return kept.index.empty() ? k : kept.index[static_cast<std::size_t>(k)];
}

void compare_output(const std::string& where, const TensorSpec& spec, const reference::Expected& expected, const Kept& kept,
                    bool arithmetic_nans) {
  const std::size_t size = dtype_size(spec.dtype);
  for (std::int64_t k = 0; k < kept.values.elements() && !testing::Test::HasFailure(); ++k) {
    const auto i = static_cast<std::size_t>(kept_index(kept, k));
    const std::string element = where + " " + element_name(spec, static_cast<std::int64_t>(i));
    if (expected.bytes.empty()) {
      const bool void_bound = !expected.bits_only.empty() && expected.bits_only[i] != 0;
      if (!void_bound) compare_value(element, expected.value[i], kept.values.as<double>()[k], expected.bound[i]);
    } else {
      const auto* golden = kept.values.bytes.data() + static_cast<std::size_t>(k) * size;
      const auto* reference = &expected.bytes[i * size];
      const bool nans = std::isnan(element_as_double(spec.dtype, reference)) && std::isnan(element_as_double(spec.dtype, golden));
      if (std::equal(golden, golden + size, reference) || (arithmetic_nans && nans)) continue;
      ADD_FAILURE() << element << ": reference " << describe_element(spec.dtype, reference) << ", golden "
                    << describe_element(spec.dtype, golden);
    }
  }
}

// Zeros whose sign is fixed: the canonical bits have it as the reference does. Truths have none, being sums of exact numbers.
void compare_zeros(const std::string& where, const TensorSpec& spec, const reference::Expected& expected, const Kept& canonical,
                   bool keeps_sign) {
  for (std::int64_t k = 0; k < canonical.values.elements() && spec.dtype == DType::f32; ++k) {
    const auto i = static_cast<std::size_t>(kept_index(canonical, k));
    const bool fixed = keeps_sign || (expected.bound[i] == 0 && expected.value[i] == 0);
    const bool bits_only = !expected.bits_only.empty() && expected.bits_only[i] != 0;
    const float bits = canonical.values.as<float>()[k];
    if (!fixed || bits_only || bits != 0) continue;
    EXPECT_EQ(std::signbit(expected.value[i]), std::signbit(bits))
        << where << " " << element_name(spec, static_cast<std::int64_t>(i))
        << ": a zero, of the reference and of the canonical bits";
  }
}

// An encoder's bytes are free: the reference judges the golden's blocks, and its judgement is what is compared.
void compare_encoding(const std::string& where, const reference::Encoding& encoding, const Kept& kept, const Array& error) {
  const double reference = reference::encoded_error(encoding, kept.values.bytes.data()).weighted;
  const double golden = error.as<double>()[0];
  EXPECT_NEAR(reference, golden, 1e-9 * golden) << where << ": weighted squared error";
}

// I1, I2: integers of each kept output's blocks. Returns how many were compared.
std::int64_t compare_parts(const TestCase& test, const Kept& kept,
                           const std::map<std::string, std::vector<std::int64_t>>& reference) {
  std::int64_t compared = 0;
  for (const auto& [name, part] : test.parts) {
    if (name == "error") continue;
    EXPECT_TRUE(reference.contains(name)) << test.name << ": the reference has no part " << name;
    EXPECT_EQ(part.dtype, DType::i32) << test.name << ": part " << name;
    if (testing::Test::HasFailure()) return compared;
    const std::int64_t blocks = part.shape.back();
    EXPECT_EQ(part.elements(), kept.values.elements() * blocks) << test.name << ": part " << name;
    for (std::int64_t i = 0; i < part.elements() && !testing::Test::HasFailure(); ++i, ++compared) {
      const std::int64_t at = kept_index(kept, i / blocks) * blocks + i % blocks;
      EXPECT_EQ(reference.at(name)[static_cast<std::size_t>(at)], part.as<std::int32_t>()[i])
          << test.name << ": " << name << "[" << i << "]";
    }
  }
  return compared;
}

struct Counts {
  std::int64_t outputs = 0;
  std::int64_t parts = 0;
};

void compare_case(const Op& op, TestCase test, Counts& counts) {
  Call call(op, test.params, std::move(test.inputs));
  call.place(call.placements().front());
  const auto expected = reference_outputs(op, test.params, call.pointers());
  std::size_t output = 0;
  for (const TensorSpec& spec : call.signature().tensors) {
    if (spec.role == Direction::in) continue;
    const Kept& kept = test.truth.at(spec.name);
    const auto canonical = test.canonical.find(spec.name);
    if (op.contract->exactness == reference::Exactness::bounded && canonical != test.canonical.end())
      compare_zeros(test.name, spec, expected[output], canonical->second, op.contract->keeps_sign);
    if (op.contract->exactness == reference::Exactness::encoded) {
      compare_encoding(test.name, expected[output++].encoding, kept, test.parts.at("error"));
    } else {
      compare_output(test.name, spec, expected[output++], kept, op.contract->arithmetic_nans);
    }
    counts.outputs += kept.values.elements();
    if (test.parts.empty()) continue;
    const Arguments args(op, test.params, call.pointers());
    using Parts = std::map<std::string, std::vector<std::int64_t>>;
    counts.parts += compare_parts(test, kept, op.family->parts != nullptr ? op.family->parts(op, args.data()) : Parts{});
  }
}

void check_reference(const std::filesystem::path& path) {
  const GoldenFile file(path, Hdf5Origin::known);
  const Op& op = require_op(file.op());
  Counts counts;
  bool has_parts = false;
  for (const std::string& name : file.case_names()) {
    TestCase test = case_from_golden(op, file, name);
    has_parts = has_parts || test.parts.contains("I1");
    if (test.status == ASSAY_OK) compare_case(op, std::move(test), counts);
  }
  EXPECT_GT(counts.outputs, 0) << "nothing was compared";
  EXPECT_EQ(counts.parts > 0, has_parts) << "no integer part was compared";
}

std::vector<NamedTest> find_tests() {
  std::vector<NamedTest> tests;
  for (const auto& path : golden_files(own_golden())) {
    tests.push_back({path.stem().string(), [path] { check_reference(path); }});
  }
  return tests;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  return assay::run_named_tests(argc, argv, "Reference", assay::find_tests);
}
