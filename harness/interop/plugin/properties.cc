#include "harness/interop/plugin/properties.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace assay {
namespace {

constexpr std::size_t kLongestText = 4096;

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

// Digits alone, and no more than there may be.
bool is_number(const std::string& text, std::int64_t most) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number >= 1 && number <= most;
}

}  // namespace

std::map<std::string, std::string> parse_properties(const char* text) {
  std::map<std::string, std::string> properties;
  const std::string_view all(text == nullptr ? "" : text, text == nullptr ? 0 : strnlen(text, kLongestText + 1));
  if (all.size() > kLongestText) throw std::invalid_argument("longer than " + std::to_string(kLongestText) + " characters");
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find(';', at);
    const std::string_view one = all.substr(at, end - at);
    const std::size_t equals = one.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos) malformed(one);
    const std::string_view key = one.substr(0, equals);
    const std::string_view value = one.substr(equals + 1);
    if (!is_key(key) || !is_value(value)) malformed(one);
    if (!properties.emplace(key, value).second) throw std::invalid_argument("key '" + std::string(key) + "' is there twice");
    at = end + 1;
  }
  return properties;
}

Traits Traits::parse(const char* properties) {
  Traits traits;
  for (auto& [key, value] : parse_properties(properties))
    (std::ranges::find(kTraits, key, &TraitRow::key) == std::end(kTraits) ? traits.words_ : traits.declared_).emplace(key, value);
  for (const TraitRow& row : kTraits) {
    const auto one = traits.declared_.find(std::string(row.key));
    if (one == traits.declared_.end()) continue;
    if (row.value.empty() ? is_number(one->second, row.most) : one->second == row.value) continue;
    const std::string expected = row.value.empty() ? "1 to " + std::to_string(row.most) + " bytes" : std::string(row.value);
    throw std::invalid_argument(one->first + " is '" + one->second + "'; expected " + expected + ", or that the key is left out");
  }
  return traits;
}

Traits Traits::with(const Traits& more) const {
  Traits both = more;
  both.declared_.insert(declared_.begin(), declared_.end());
  both.words_.insert(words_.begin(), words_.end());
  return both;
}

void Traits::require_claim(bool canonical) const {
  if (!canonical) return;
  for (const std::string_view key : {kBatchInvariant, kPlacementInvariant}) {
    if (!has(key)) continue;
    throw std::invalid_argument(std::string(key) +
                                " is 'no', but its claim is canonical; expected claim 1 (bounded), or that the key is left out");
  }
  if (words_.empty()) return;
  throw std::invalid_argument("'" + words_.begin()->first +
                              "' is no trait, and its claim, canonical, says what it computes; expected claim 1 (bounded), or "
                              "that the key is left out");
}

std::size_t Traits::over_read() const {
  const auto one = declared_.find(std::string(kOverRead));
  return one == declared_.end() ? 0 : std::stoul(one->second);
}

std::string Traits::to_string() const {
  std::string text;
  for (const auto* all : {&declared_, &words_})
    for (const auto& [key, value] : *all) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return text;
}

}  // namespace assay
