#include "harness/interop/plugin/properties.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "harness/verdict/nearest.h"

namespace assay {
namespace {

constexpr std::size_t kLongest = 4096;

[[noreturn]] void malformed(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) +
                              "' is not key=value; with a key of a-z 0-9 - and a value of printable characters");
}

bool is_key(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

bool is_value(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

}  // namespace

std::map<std::string, std::string> parse_properties(const char* text, std::span<const std::string_view> known) {
  std::map<std::string, std::string> properties;
  const std::string_view all(text == nullptr ? "" : text, text == nullptr ? 0 : strnlen(text, kLongest + 1));
  if (all.size() > kLongest) throw std::invalid_argument("longer than " + std::to_string(kLongest) + " characters");
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find(';', at);
    const std::string_view one = all.substr(at, end - at);
    const std::size_t equals = one.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos) malformed(one);
    const std::string_view key = one.substr(0, equals);
    const std::string_view value = one.substr(equals + 1);
    if (!is_key(key) || !is_value(value)) malformed(one);
    if (std::ranges::find(known, key) == known.end()) {
      throw std::invalid_argument(unknown_name("key", key, {known.begin(), known.end()}));
    }
    if (!properties.emplace(key, value).second) throw std::invalid_argument("key '" + std::string(key) + "' is there twice");
    at = end + 1;
  }
  return properties;
}

}  // namespace assay
