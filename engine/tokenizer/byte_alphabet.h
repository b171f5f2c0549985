// How byte-level BPE spells bytes in a vocabulary: one printable code point for each of the 256.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

// The code point that stands for `byte`: itself in 21..7E, A1..AC, AE..FF; the other 68 bytes, in ascending order, are
// U+0100 .. U+0143 (the space is U+0120). Source: the GPT-2 vocabulary, whose spelling all byte-level BPE keeps.
char32_t alphabet_letter(unsigned char byte);

// The bytes that `spelling` (valid UTF-8) stands for; nothing if a code point of it is no letter of the alphabet.
std::optional<std::string> bytes_of_spelling(std::string_view spelling);

}  // namespace assay
