// `assay new-plugin`: a small project of one kernel that builds against the installed package.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct NewPlugin {
  std::string name;  // the plugin's: the folder's
  std::vector<std::filesystem::path> files;
};

// Writes it to `folder`, which is made. Throws std::invalid_argument for a folder that holds anything, or whose name is no plugin's
// (a-z, A-Z, 0-9, '_', '-', '.'), and std::runtime_error where it cannot be written.
NewPlugin write_new_plugin(const std::filesystem::path& folder);

}  // namespace assay
