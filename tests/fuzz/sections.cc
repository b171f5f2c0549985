#include "tests/fuzz/sections.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::fuzz {
namespace {

constexpr std::string_view kMark = "\n@@@ ";
constexpr std::array<std::string_view, 7> kNames{
    "config.json",         "tokenizer.json",     "tokenizer_config.json", "model.safetensors", "model.safetensors.index.json",
    "model-1.safetensors", "model-2.safetensors"};

}  // namespace

std::map<std::string, std::span<const std::uint8_t>> sections_of(std::span<const std::uint8_t> input) {
  std::map<std::string, std::span<const std::uint8_t>> out;
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  for (std::size_t mark = text.starts_with(kMark.substr(1)) ? 0 : text.find(kMark); mark != std::string_view::npos;) {
    const std::size_t name = mark + kMark.size() - (mark == 0 ? 1 : 0);
    const std::size_t line_end = text.find('\n', name);
    if (line_end == std::string_view::npos) break;
    const std::string_view word = text.substr(name, line_end - name);
    const std::size_t next = text.find(kMark, line_end);
    const std::size_t end = std::min(next, text.size());
    if (std::find(kNames.begin(), kNames.end(), word) != kNames.end()) {
      out[std::string(word)] = input.subspan(std::min(line_end + 1, end), end - std::min(line_end + 1, end));
    }
    mark = next;
  }
  return out;
}

std::vector<std::uint8_t> joined(const std::map<std::string, std::vector<std::uint8_t>>& files) {
  std::vector<std::uint8_t> out;
  for (const auto& [name, bytes] : files) {
    const std::string line = std::string(out.empty() ? kMark.substr(1) : kMark) + name + "\n";
    out.insert(out.end(), line.begin(), line.end());
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

}  // namespace assay::fuzz
