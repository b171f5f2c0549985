// NFC as Hugging Face's `tokenizers` computes it.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Canonical decomposition and composition (UAX 15) of `text`, which must be valid UTF-8, with the tables of Unicode 9:
// those that `tokenizers` has (its crate unicode-normalization-alignments 0.1.12) and every token was trained with. A
// combining mark or a composition that came later is left as it stands, whichever Unicode utf8proc knows.
// Throws std::runtime_error if utf8proc fails (out of memory).
std::string nfc(std::string_view text);

}  // namespace assay
