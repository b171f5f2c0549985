#pragma once

#include <filesystem>
#include <string_view>

namespace assay {

// Writes beside the target, flushes to disk and renames, so that a reader finds the old file or the new one. Throws
// std::runtime_error naming the file.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace assay
