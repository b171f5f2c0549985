// What a GGUF file says about its tokenizer, checked to fit together.
#pragma once

#include <string>

#include "engine/files/gguf.h"
#include "engine/tokenizer/vocabulary.h"

namespace assay {

// Throws ModelFileError: missing-key, key-type, feature for another tokenizer than Qwen's, vocabulary for tokens that are there
// twice, are no UTF-8 or have no type, for merges whose halves are no tokens; key-value for ids outside the vocabulary.
Vocabulary read_gguf_vocabulary(const GgufContents& gguf, const std::string& file);

}  // namespace assay
