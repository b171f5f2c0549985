// Words put one after the other into a caller's text, cut where it ends and counted whole, as snprintf does it.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay {

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

}  // namespace assay
