// What a GGUF file says about its tokenizer: tokens, merges, special ids, as they are stored and checked to fit together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/gguf.h"

namespace assay {

// GGUF's numbers. Normal tokens come out of merges; unknown, control and user_defined ones are matched in the text first;
// unused ones are padding.
enum class TokenType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

// Views of the mapped file. A token's id is its place; tokens are in byte-level BPE's alphabet (UTF-8).
struct Vocabulary {
  std::string_view model;  // "gpt2": byte-level BPE
  std::string_view pre;    // "qwen2": the pre-tokeniser's name
  std::vector<std::string_view> tokens;
  std::vector<TokenType> types;          // one a token
  std::vector<std::string_view> merges;  // "left right", first wins; both halves are tokens, their concatenation need not be
  std::optional<std::int64_t> bos, eos, eot, padding, unknown;  // ids
  bool add_bos = false;
  std::string_view chat_template;  // empty if there is none
};

// Throws ModelFileError: missing-key, key-type, feature for another tokenizer, vocabulary for tokens that are there twice, are
// no UTF-8 or have no type, for merges whose halves are no tokens; key-value for ids outside the vocabulary.
Vocabulary read_vocabulary(const GgufContents& gguf, const std::string& file);

}  // namespace assay
