// UTF-8: what is not becomes U+FFFD, as Python's bytes.decode("utf-8", errors="replace") has it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

// Takes bytes in portions cut anywhere and gives whole code points. Each maximal start of a code point that the next
// byte does not continue becomes one U+FFFD, and so does each byte that starts none (overlong forms, surrogates and
// values past U+10FFFF have no valid start); the Unicode standard, chapter 3.9, "substitution of maximal subparts".
class Utf8Stream {
 public:
  // Appends to `out` what `bytes` complete. `out` grows by at most 3 (bytes.size() + 1) bytes.
  void append(std::string_view bytes, std::string& out);
  // The end of the bytes: a code point begun becomes U+FFFD.
  void flush(std::string& out);

 private:
  void append_byte(unsigned char byte, std::string& out);

  std::array<char, 4> begun_{};
  std::uint8_t size_ = 0;    // bytes in begun_
  std::uint8_t length_ = 0;  // that the lead byte announces
};

// The whole of `bytes` at once.
std::string to_utf8(std::string_view bytes);

// Well-formed as Unicode defines it: no overlong form, no surrogate, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view bytes) noexcept;

// The code point at `at`, which moves behind it. `text` must be valid UTF-8 and `at` the start of a code point in it.
char32_t next_code_point(std::string_view text, std::size_t& at);

// Appends a code point other than a surrogate.
void append_code_point(char32_t code_point, std::string& out);

}  // namespace assay
