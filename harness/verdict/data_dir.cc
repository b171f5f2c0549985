#include "harness/verdict/data_dir.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

std::filesystem::path folder_set;  // empty: this program's

}  // namespace

std::filesystem::path program_folder() {
  return folder_set.empty() ? std::filesystem::read_symlink("/proc/self/exe").parent_path() : folder_set;
}

void set_program_folder(std::filesystem::path folder) {
  folder_set = std::move(folder);
}

std::filesystem::path data_dir() {
  std::vector<std::filesystem::path> candidates;
  if (const char* given = std::getenv("ASSAY_DATA"); given != nullptr && *given != '\0') {
    candidates.emplace_back(given);
  } else {
    const std::filesystem::path folder = program_folder();
    candidates.push_back(folder.parent_path() / "share" / "assay");
    // build/<preset>/assay and build/<preset>/tests/parity_test
    for (std::filesystem::path up = folder; up.has_relative_path(); up = up.parent_path()) candidates.push_back(up);
  }
  std::string looked;
  for (const std::filesystem::path& candidate : candidates) {
    if (std::filesystem::is_directory(candidate / "golden" / "ops")) return candidate;
    looked += "\n  " + candidate.string();
  }
  throw std::runtime_error("no folder with golden/ops; set ASSAY_DATA to the one that holds it. Looked in" + looked);
}

}  // namespace assay
