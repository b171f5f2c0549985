// What a plugin's kernel declares of itself: AssayPluginKernel::properties.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace assay {

// The keys that are known. What a key declares is held to where the kernel is judged.
inline constexpr std::string_view kKnownProperties[] = {"allocates"};

// "key=value;key=value;": null and empty declare nothing. Throws std::invalid_argument for other text, for a key twice, and for one
// that is not among `known`, naming the nearest.
std::map<std::string, std::string> parse_properties(const char* text, std::span<const std::string_view> known);

}  // namespace assay
