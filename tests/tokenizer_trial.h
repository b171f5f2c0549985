// Tokenizers for tests: that of kjv, and vocabularies made up on the spot.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace assay {

// The folder of the model kjv.
std::filesystem::path kjv_folder();

const Tokenizer& kjv_tokenizer();

// Tokens for the 256 bytes, then `more`; source "trial".
Vocabulary bytes_and(const std::vector<std::pair<std::string, TokenType>>& more, std::vector<std::string> merges = {});

}  // namespace assay
