// One test an op, variant and golden file: the verdict on every case in it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/reports/suite_text.h"
#include "tests/named_tests.h"

namespace assay {
namespace {

// Where CTest, CDash and JUnit readers pick figures up.
void record(const char* name, double value) {
  testing::Test::RecordProperty(name, fmt::format("{:.6g}", value));
  fmt::print("<CTestMeasurement type=\"numeric/double\" name=\"{}\">{:.6g}</CTestMeasurement>\n", name, value);
}

void check_variant(const Op& op, const Variant& variant, const std::filesystem::path& file) {
  if (!isa_supported(variant.isa)) GTEST_SKIP() << "this CPU lacks " << isa_name(variant.isa);
  CheckRequest request;
  request.ops = {op.name};
  request.isas = {variant.isa};
  request.file = file;
  request.checks = Checks::from_environment();
  request.shapes = true;
  request.random_cases = 3;
  const SuiteResult result = run_suite(request);
  double margin = 0;
  double compared = 0;
  for (const CaseResult& one : result.cases) {
    margin = std::max(margin, one.margin);
    compared += static_cast<double>(one.compared + one.bits_only);
    if (one.case_name == "bias" && one.z) record("z", *one.z);
    if (one.verdict != Verdict::pass) ADD_FAILURE() << op.name << ": " << describe_problem(one, Style::plain());
  }
  for (const std::string& fault : result.faults) ADD_FAILURE() << fault;
  if (!request.checks.off_to_string().empty()) fmt::print("checks off: {}\n", request.checks.off_to_string());
  record("max margin", margin);
  record("comparisons", compared);
  EXPECT_GT(compared, 0) << "nothing was compared";
}

// "rms_norm_avx2" for golden/ops/rms_norm.h5; "rms_norm_avx2@mine" for a further file of that op, mine.h5.
std::vector<NamedTest> find_tests() {
  std::vector<NamedTest> tests;
  std::vector<std::string> without = op_names();
  for (const auto& path : golden_files(own_golden())) {
    // Reading them all would take longer than most tests; where the name lies, nothing is compared, and that fails.
    const std::string stem = path.stem().string();
    const Op& op = require_op(find_op(stem) != nullptr ? stem : GoldenFile(path, Hdf5Origin::known).op());
    std::erase(without, op.name);
    for (const Variant& variant : variants_of(op)) {
      const std::string suffix = stem == op.name ? "" : "@" + stem;
      tests.push_back({variant.name + suffix, [&op, variant, path] { check_variant(op, variant, path); }});
    }
  }
  for (const std::string& op : without) {
    tests.push_back({op + "_without_golden", [op] { FAIL() << op << " has no golden file"; }});
  }
  return tests;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  return assay::run_named_tests(argc, argv, "Parity", assay::find_tests);
}
