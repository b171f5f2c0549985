// From a token's spelling to its id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// A hash table with open addressing, at most half full. It holds ids and hashes alone: loading a vocabulary looks up half a
// million spellings, and a node and a copy for each token would double the time.
class TokenIndex {
 public:
  // `tokens` must outlive the object and stay as they are.
  explicit TokenIndex(const std::vector<std::string>& tokens);
  // Puts tokens[id] in. Returns the id that the same spelling has already, or -1.
  std::int32_t insert(std::int32_t id);
  // -1: none.
  std::int32_t find(std::string_view spelling) const;

 private:
  struct Slot {
    std::uint32_t hash;
    std::int32_t id;  // -1: empty
  };
  std::size_t slot_of(std::string_view spelling, std::size_t hash) const;

  const std::vector<std::string>& tokens_;
  std::vector<Slot> slots_;
};

}  // namespace assay
