// The fuzzing targets on their seeds and on tests/fuzz/corpus: what fuzzing found, and inputs that reach far.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/seeds.h"
#include "tests/fuzz/targets.h"

namespace assay::fuzz {
namespace {

std::filesystem::path corpus() {
  return std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "tests/fuzz/corpus";
}

void run(const Target& target, const std::string& name, Input input) {
  SCOPED_TRACE(std::string(target.name) + " " + name);
  EXPECT_NO_THROW(target.run(input));
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
      std::ifstream in(file.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
      ASSERT_TRUE(in) << file.path();
      run(*target, file.path().filename(), {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    }
  }
}

}  // namespace
}  // namespace assay::fuzz
