// What messages need where the C++ runtime is not linked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace assay {

// Words put one after the other into a caller's text, cut where it ends and counted whole, as snprintf does it.
class Words {
 public:
  Words(char* text, std::size_t bytes) noexcept : text_(text), bytes_(bytes) {
    if (bytes > 0) *text = '\0';
  }
  Words& operator<<(std::string_view word) noexcept {
    for (const char c : word) {
      if (++length_ >= bytes_) continue;
      text_[length_ - 1] = c;
      text_[length_] = '\0';
    }
    return *this;
  }
  std::size_t length() const noexcept { return length_; }

 private:
  char* text_;
  std::size_t bytes_;
  std::size_t length_ = 0;
};

// How many characters both begin with: what a misspelt name is likened by.
inline std::ptrdiff_t common_prefix(std::string_view a, std::string_view b) noexcept {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace assay
