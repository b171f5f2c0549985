// Test programs whose tests are found in the golden files when ctest runs (discover.cmake.in).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace assay {

struct NamedTest {
  std::string name;
  std::function<void()> body;  // GoogleTest assertions
  std::string after = {};      // the test that must have run before, and pass
};

// `--list` prints the names, a line each, with that of the test before; `--only NAME` runs one; otherwise all run. Returns the exit code.
int run_named_tests(int argc, char** argv, const char* suite, const std::function<std::vector<NamedTest>()>& find);

}  // namespace assay
