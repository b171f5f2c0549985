#pragma once

#include <filesystem>

#include "tests/malformed/malformed.h"

namespace assay::malformed {

// Writes a case's files below `folder`; returns what to open: the GGUF file or the folder.
std::filesystem::path store(const Case& wrong, const std::filesystem::path& folder);

}  // namespace assay::malformed
