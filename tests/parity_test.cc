// One test an op, variant and golden file: the verdict on every case in it. Most of a check is the reference's, which all variants of
// an op share: so one test a file, "parity.<file>", checks them all, and each variant's test tells what it found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/reports/suite_text.h"
#include "tests/named_tests.h"

namespace assay {
namespace {

// What was found of each variant on the cases of a golden file; of one variant alone if it is named.
std::map<std::string, nlohmann::json> find(const Op& op, const std::filesystem::path& file, const std::string& variant = "") {
  CheckRequest request;
  request.ops = {op.name};
  request.file = file;
  request.variant = variant;
  request.checks = Checks::from_environment();
  request.shapes = true;
  request.random_cases = 3;
  const SuiteResult result = run_suite(request);
  std::map<std::string, nlohmann::json> found;
  for (const CaseResult& one : result.cases) {
    nlohmann::json& of = found.try_emplace(one.variant, nlohmann::json{{"failures", result.faults}}).first->second;
    of["max margin"] = std::max(of.value("max margin", 0.0), one.margin);
    of["comparisons"] = of.value("comparisons", 0.0) + static_cast<double>(one.compared + one.bits_only);
    if (one.case_name == "bias" && one.z) of["z"] = *one.z;
    if (one.verdict != Verdict::pass)
      of["failures"].push_back(fmt::format("{}: {}", op.name, describe_problem(one, Style::plain())));
  }
  if (!request.checks.off_to_string().empty()) fmt::print("checks off: {}\n", request.checks.off_to_string());
  return found;
}

// Where the check of a file leaves what it found of a variant, for its test alone.
std::filesystem::path found_of(const std::string& test) {
  return "parity/" + test + ".json";
}

void check_file(const Op& op, const std::filesystem::path& file, const std::string& suffix) {
  for (const Variant& variant : variants_of(op)) std::filesystem::remove(found_of(variant.name + suffix));
  const auto found = find(op, file);
  std::filesystem::create_directories("parity");
  for (const auto& [variant, of] : found) std::ofstream(found_of(variant + suffix)) << of;
}

// Where CTest, CDash and JUnit readers pick figures up.
void record(const char* name, const nlohmann::json& found) {
  if (!found.contains(name)) return;
  const auto value = found[name].get<double>();
  testing::Test::RecordProperty(name, fmt::format("{:.6g}", value));
  fmt::print("<CTestMeasurement type=\"numeric/double\" name=\"{}\">{:.6g}</CTestMeasurement>\n", name, value);
}

bool is_older(const std::filesystem::path& one, const std::filesystem::path& other) {
  return std::filesystem::last_write_time(one) < std::filesystem::last_write_time(other);
}

// What the check of its file found of a variant, once; run by itself, or where this program or the file is newer, the test checks the variant.
void tell(const Op& op, const std::filesystem::path& file, const Variant& variant, const std::string& test) {
  if (!isa_supported(variant.isa)) GTEST_SKIP() << "this CPU lacks " << isa_name(variant.isa);
  const std::filesystem::path checked = found_of(test);
  const bool asks = !exists(checked) || is_older(checked, "/proc/self/exe") || is_older(checked, file);
  const nlohmann::json found =
      asks ? find(op, file, variant.name)[variant.name] : nlohmann::json::parse(std::ifstream(checked), nullptr, false);
  std::filesystem::remove(checked);
  ASSERT_TRUE(found.is_object()) << "no case of it was run";
  for (const std::string failure : found["failures"]) ADD_FAILURE() << failure;
  for (const char* name : {"max margin", "comparisons", "z"}) record(name, found);
  EXPECT_GT(found["comparisons"], 0) << "nothing was compared";
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
    const std::string suffix = stem == op.name ? "" : "@" + stem;
    const std::string check = "parity." + stem;
    tests.push_back({check, [&op, path, suffix] { check_file(op, path, suffix); }});
    for (const Variant& variant : variants_of(op)) {
      const std::string test = variant.name + suffix;
      tests.push_back({test, [&op, path, variant, test] { tell(op, path, variant, test); }, check});
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
