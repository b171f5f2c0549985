#include "tests/named_tests.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace assay {
namespace {

class BodyTest : public testing::Test {
 public:
  explicit BodyTest(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

}  // namespace

int run_named_tests(int argc, char** argv, const char* suite, const std::function<std::vector<NamedTest>()>& find) {
  testing::InitGoogleTest(&argc, argv);
  const bool list = argc == 2 && std::strcmp(argv[1], "--list") == 0;
  const std::string only = argc == 3 && std::strcmp(argv[1], "--only") == 0 ? argv[2] : "";
  try {
    for (NamedTest& test : find()) {
      if (list) std::printf("%s %s\n", test.name.c_str(), test.after.c_str());
      if (!only.empty() && test.name != only) continue;
      testing::RegisterTest(suite, test.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [body = test.body]() -> testing::Test* { return new BodyTest(body); });
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", suite, error.what());
    return 2;
  }
  if (list) return 0;
  const int result = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test was run\n");
    return 1;
  }
  return result;
}

}  // namespace assay
