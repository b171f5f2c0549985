// What a model file says of its tokens, from a tokenizer.json or from GGUF metadata.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/pre_tokenizer.h"
#include "golden/printable.h"

namespace assay {

// What a file says stands in it without control characters.
struct TokenizerError : std::runtime_error {
  explicit TokenizerError(std::string_view message) : std::runtime_error(printable(message)) {}
};

// GGUF's `tokenizer.ggml.token_type`. Unknown, control and user-defined tokens are matched in the text before BPE;
// unused ones pad the embedding and are never matched, looked up or printed.
enum class TokenType : std::int32_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5 };

struct Vocabulary {
  std::string source;                  // the file, for messages
  std::vector<std::string> tokens;     // by id. Normal ones are spelt in the byte alphabet (byte_alphabet.h), others as they read
  std::vector<TokenType> types;        // one a token
  std::vector<std::string> merges;     // "left right", most preferred first
  std::string pattern{kQwen2Pattern};  // the pre-tokeniser's (GGUF: pre_tokenizer_pattern of `tokenizer.ggml.pre`)
  bool nfc = true;                     // normalise text first, as Hugging Face does and llama.cpp does not
  std::string eos;                     // the token that ends a text, by its spelling; empty where the model names none
};

}  // namespace assay
