#include "engine/tokenizer/byte_alphabet.h"

#include <array>

#include "engine/tokenizer/utf8.h"

namespace assay {
namespace {

constexpr std::size_t kLetters = 0x144;

struct Alphabet {
  std::array<char32_t, 256> letter{};
  std::array<int, kLetters> byte{};  // -1: no letter

  constexpr Alphabet() {
    for (int& b : byte) b = -1;
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      const bool itself = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      letter[b] = itself ? b : next++;
      byte[letter[b]] = static_cast<int>(b);
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

char32_t alphabet_letter(unsigned char byte) {
  return kAlphabet.letter[byte];
}

std::optional<std::string> bytes_of_spelling(std::string_view spelling) {
  std::string bytes;
  for (std::size_t at = 0; at < spelling.size();) {
    const char32_t letter = next_code_point(spelling, at);
    if (letter >= kLetters || kAlphabet.byte[letter] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte[letter]);
  }
  return bytes;
}

}  // namespace assay
