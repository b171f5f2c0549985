// The fuzzing targets on their seeds and on tests/fuzz/corpus: what fuzzing found, and inputs that reach far.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "tests/fuzz/seeds.h"
#include "tests/fuzz/targets.h"
#include "tests/temporary.h"

namespace assay::fuzz::fuzz_test {
namespace {

std::filesystem::path corpus() {
  return std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "tests/fuzz/corpus";
}

// What the commands under trial print goes nowhere.
class Silence {
 public:
  Silence() : kept_((std::fflush(stdout), dup(STDOUT_FILENO))) {
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, STDOUT_FILENO);
    close(nothing);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() {
    std::fflush(stdout);
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }

 private:
  int kept_;
};

void run(const Target& target, const std::string& name, Input input) {
  SCOPED_TRACE(std::string(target.name) + " " + name);
  try {
    const Silence silence;
    target.run(input);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(Fuzz, Seeds) {
  for (const Target& target : targets()) {
    const std::vector<Seed> seeds = seeds_of(target.name);
    EXPECT_FALSE(seeds.empty()) << target.name;
    for (const Seed& seed : seeds) run(target, seed.name, seed.bytes);
  }
}

TEST(Fuzz, EmptyInput) {
  for (const Target& target : targets()) run(target, "nothing", {});
}

TEST(Fuzz, Corpus) {
  for (const auto& folder : std::filesystem::directory_iterator(corpus())) {
    const Target* target = find_target(folder.path().filename().string());
    ASSERT_NE(target, nullptr) << folder.path() << " is no target's";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string bytes = file_bytes(file.path());
      run(*target, file.path().filename(), {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    }
  }
}

}  // namespace
}  // namespace assay::fuzz::fuzz_test
