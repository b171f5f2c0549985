// Files that are read whole. A file that cannot be read is never taken for a short one, nor for none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace assay {

// All throw std::runtime_error, "FILE: cannot be read: WHY". Pipes can be read too.
std::string read_file(const std::filesystem::path& path);
// None where there is no such file.
std::optional<std::string> read_file_if_any(const std::filesystem::path& path);
// Gives the bytes to `take` in pieces of at most 64 KiB.
void read_pieces(const std::filesystem::path& path, const std::function<void(std::span<const std::uint8_t>)>& take);

}  // namespace assay
