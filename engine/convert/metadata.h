// The metadata of a GGUF file that is made from another model file: configuration and tokenizer, as llama.cpp's converter
// writes them.
#pragma once

#include <filesystem>

#include "engine/convert/target.h"
#include "engine/files/gguf.h"
#include "engine/files/gguf_writer.h"
#include "engine/model/config.h"

namespace assay {

// All that `source` has, in its order, but for the type of the file and the version of the formats, which come last.
void copy_metadata(const GgufContents& source, const Target& target, GgufWriter& writer);

// The same from config.json, tokenizer.json, tokenizer_config.json and chat_template.jinja in `folder` (the last two may be
// absent). Tokens up to the embedding's rows are filled with "[PADn]", of type unused. Special ids are those of the names in
// tokenizer_config.json, else those in config.json. Throws ModelFileError, TokenizerError: the pre-tokeniser is not
// Qwen2's, more tokens than the embedding has rows, a special token that the vocabulary lacks.
void write_metadata(const std::filesystem::path& folder, const ModelConfig& config, const Target& target, GgufWriter& writer);

// What both end with: general.quantization_version and general.file_type.
void write_file_type(const Target& target, GgufWriter& writer);

// The architecture's keys, general.name included.
void write_config(const ModelConfig& config, GgufWriter& writer);

}  // namespace assay
