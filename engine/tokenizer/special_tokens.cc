#include "engine/tokenizer/special_tokens.h"

#include <algorithm>

namespace assay {

void SpecialTokens::add(std::string_view text, std::int32_t id) {
  std::vector<Entry>& entries = by_first_byte_[static_cast<unsigned char>(text.front())];
  const auto shorter = [&](const Entry& entry) { return entry.text.size() < text.size(); };
  entries.insert(std::find_if(entries.begin(), entries.end(), shorter), {text, id});
}

SpecialTokens::Match SpecialTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    for (const Entry& entry : by_first_byte_[static_cast<unsigned char>(text[at])]) {
      if (text.substr(at, entry.text.size()) == entry.text) return {at, at + entry.text.size(), entry.id};
    }
  }
  return {text.size(), text.size(), -1};
}

}  // namespace assay
