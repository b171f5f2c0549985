// A vocabulary of any size that is valid byte-level BPE, for models that nobody trained.
#pragma once

#include <cstdint>

#include "engine/convert/tokenizer_metadata.h"

namespace assay {

inline constexpr std::int64_t kLeastSynthRows = 512;
inline constexpr std::int64_t kMostSynthRows = 480000;

// `rows` tokens: the 256 bytes; words of two, three and four letters, of which the first may be the space, each merged from the
// word without its last letter and that letter; Qwen3's 26 special tokens by their names; one row in 569 of padding, as Qwen3 has
// it (267 of 151,936, so that the special tokens have Qwen3's ids at that size). Depends on `rows` alone.
// Throws std::invalid_argument outside the limits above.
TokenizerMetadata synth_tokenizer(std::int64_t rows);

}  // namespace assay
