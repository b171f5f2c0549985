// Tokens that are found in the text itself, before BPE.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Finds such tokens from left to right; of those that start at the same place the longest.
class SpecialTokens {
 public:
  struct Match {
    std::size_t begin, end;  // bytes in the text
    std::int32_t id;         // -1: none, and both offsets are the text's size
  };

  // `text` must not be empty and must outlive the object.
  void add(std::string_view text, std::int32_t id);
  // The first match at `from` or later.
  Match find(std::string_view text, std::size_t from) const;

 private:
  struct Entry {
    std::string_view text;
    std::int32_t id;
  };
  std::array<std::vector<Entry>, 256> by_first_byte_;  // each with the longest first
};

}  // namespace assay
