// The main of every test program: one that runs no test has failed. `--file rms_norm_test` runs that file's tests alone, which is how
// ctest calls it; --gtest_filter goes before it.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace {

std::string filter_of_file(std::string_view name) {
  const auto& tests = *testing::UnitTest::GetInstance();
  std::string out;
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *tests.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::filesystem::path(test.file()).stem() == name) out += std::string(suite.name()) + "." + test.name() + ":";
    }
  }
  return out.empty() ? "-*" : out;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && std::string_view(argv[1]) == "--file" && testing::GTEST_FLAG(filter) == "*") {
    testing::GTEST_FLAG(filter) = filter_of_file(argv[2]);
  }
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  const int result = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test was run\n");
    return 1;
  }
  return result;
}
