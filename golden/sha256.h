#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace assay {

// Lower-case hexadecimal SHA-256.
std::string sha256(std::span<const std::uint8_t> bytes);
// Of a whole file; throws std::runtime_error naming it if it cannot be read.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace assay
