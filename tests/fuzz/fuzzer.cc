// libFuzzer's side: `assay_fuzz --target=NAME CORPUS... -max_total_time=60`; `assay_fuzz --seeds=DIR` writes each target's seeds to DIR/NAME.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>

#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/targets.h"

namespace assay::fuzz {
namespace {

const Target* chosen = nullptr;

void write_seeds(const std::filesystem::path& folder) {
  for (const Target& target : targets()) {
    std::filesystem::create_directories(folder / target.name);
    for (const Seed& seed : seeds_of(target.name)) write_file(folder / target.name / seed.name, seed.bytes);
  }
}

int wrong_use(const char* what) {
  std::fprintf(stderr, "assay_fuzz: %s; expected --seeds=DIR or --target= and one of:", what);
  for (const Target& target : targets()) std::fprintf(stderr, " %s", target.name.data());
  std::fputs("\n", stderr);
  return 2;
}

}  // namespace

bool fuzzes_recipes() {
  return chosen->recipes;
}

}  // namespace assay::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace assay::fuzz;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word.starts_with("--seeds=")) {
      write_seeds(word.substr(8));
      std::exit(0);
    }
    if (word.starts_with("--target=")) chosen = find_target(word.substr(9));
  }
  if (chosen == nullptr) std::exit(wrong_use("no target"));
  // What the commands under trial print; libFuzzer itself speaks on standard error.
  if (std::freopen("/dev/null", "w", stdout) == nullptr) std::exit(wrong_use("/dev/null cannot be opened"));
  return 0;
}

// What a target does not catch ends the process: a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::fuzz::chosen->run({data, size});
  return 0;
}
