// Each reference is held to the goldens before a kernel is held to it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/call.h"
#include "harness/cases.h"
#include "harness/suite.h"
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

void compare_output(const std::string& where, const TensorSpec& spec, const reference::Expected& expected, const Kept& kept) {
  const std::size_t size = dtype_size(spec.dtype);
  for (std::int64_t k = 0; k < kept.values.elements() && !testing::Test::HasFailure(); ++k) {
    const auto i = static_cast<std::size_t>(kept.index.empty() ? k : kept.index[static_cast<std::size_t>(k)]);
    const std::string element = where + " " + element_name(spec, static_cast<std::int64_t>(i));
    if (expected.bytes.empty()) {
      const bool void_bound = !expected.bits_only.empty() && expected.bits_only[i] != 0;
      if (!void_bound) compare_value(element, expected.value[i], kept.values.as<double>()[k], expected.bound[i]);
    } else {
      const auto* golden = kept.values.bytes.data() + static_cast<std::size_t>(k) * size;
      EXPECT_EQ(describe_element(spec.dtype, &expected.bytes[i * size]), describe_element(spec.dtype, golden)) << element;
    }
  }
}

// Returns how many outputs were compared.
std::int64_t compare_case(const Adapter& adapter, TestCase test) {
  Call call(adapter, test.params, std::move(test.inputs));
  call.place(call.placements().front());
  const auto expected = adapter.reference(test.params, call.pointers());
  std::size_t output = 0;
  std::int64_t compared = 0;
  for (const TensorSpec& spec : call.signature().tensors) {
    if (spec.role == Role::in) continue;
    const Kept& kept = test.truth.at(spec.name);
    compare_output(test.name, spec, expected[output++], kept);
    compared += kept.values.elements();
  }
  return compared;
}

void check_reference(const std::filesystem::path& path) {
  const GoldenFile file(path);
  const Adapter& adapter = require_adapter(file.op());
  std::int64_t compared = 0;
  for (const std::string& name : file.case_names()) {
    TestCase test = case_from_golden(adapter, file, name);
    if (test.status == ASSAY_OK) compared += compare_case(adapter, std::move(test));
  }
  EXPECT_GT(compared, 0) << "nothing was compared";
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
