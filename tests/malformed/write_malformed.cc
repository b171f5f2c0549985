// write_malformed DIR: every malformed model as a folder below DIR, and DIR/cases.tsv: path to open, expected fault, mechanism.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "tests/malformed/store.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_malformed DIR\n");
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    const auto cases = assay::malformed::all_cases();
    std::filesystem::create_directories(folder);
    std::ofstream list(folder / "cases.tsv");
    for (const auto& wrong : cases) {
      const auto path = assay::malformed::store(wrong, folder);
      list << path.string() << '\t' << assay::fault_name(wrong.fault) << '\t' << wrong.mechanism << '\n';
    }
    if (!list.flush()) throw std::runtime_error((folder / "cases.tsv").string() + ": cannot be written");
    std::printf("%zu malformed models in %s\n", cases.size(), folder.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_malformed: %s\n", error.what());
    return 2;
  }
  return 0;
}
