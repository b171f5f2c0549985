// Hugging Face's tokenizer.json and tokenizer_config.json.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/tokenizer/vocabulary.h"

namespace assay {

// Reads a tokenizer.json (version 1.0): model BPE, pre-tokeniser Split by one regular expression and ByteLevel, normaliser
// NFC or none, decoder ByteLevel. Added tokens become control tokens where `special`, else user-defined ones. Ids must be 0,
// 1, 2, ... without a hole. What the engine would not do as `tokenizers` does is refused: TokenizerError names the file,
// the key, what it holds and what is expected.
Vocabulary vocabulary_from_tokenizer_json(const std::filesystem::path& path);

// The name of the token that ends a text, `eos_token` of a tokenizer_config.json; nothing where it is null or absent.
// Throws TokenizerError where it is neither a string nor an object with a string `content`.
std::optional<std::string> eos_from_tokenizer_config(const std::filesystem::path& path);

}  // namespace assay
