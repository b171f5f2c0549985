// A vocabulary as GGUF metadata.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/files/gguf_writer.h"
#include "engine/model/config.h"
#include "engine/tokenizer/vocabulary.h"

namespace assay {

struct TokenizerMetadata {
  Vocabulary vocabulary;  // one token a row of the embedding, eos as below
  std::optional<std::int64_t> bos, eos, padding;
  std::string chat_template;  // empty: none
};

// Appends "[PADn]" of type unused until the vocabulary has `rows` tokens. Throws TokenizerError if it has more.
void pad_vocabulary(Vocabulary& vocabulary, std::int64_t rows);

// From tokenizer.json, tokenizer_config.json, config.json and chat_template.jinja of a Hugging Face folder; padded to `rows`.
// Errors: engine/convert/metadata.h.
TokenizerMetadata read_tokenizer_metadata(const std::filesystem::path& folder, std::int64_t rows);

// The keys tokenizer.*: model gpt2, pre qwen2, no token put before the text.
void write_tokenizer(const TokenizerMetadata& tokenizer, GgufWriter& writer);

}  // namespace assay
