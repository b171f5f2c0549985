// Several files in one input: before each of them a line "@@@ NAME".
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::fuzz {

// Names that a model's folder has; sections of another name, and what stands before the first, are left out.
std::map<std::string, std::span<const std::uint8_t>> sections_of(std::span<const std::uint8_t> input);
std::vector<std::uint8_t> joined(const std::map<std::string, std::vector<std::uint8_t>>& files);

}  // namespace assay::fuzz
