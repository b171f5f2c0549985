// A model as it lies on disk, from either source: a GGUF file, or a folder in Hugging Face's layout.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "engine/files/gguf.h"
#include "engine/files/safetensors.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/tokenizer/vocabulary.h"

namespace assay {

// Opened and checked as a whole; the weights are mapped, not read. Views are good for as long as the object lives, moves of
// it included. Throws ModelFileError.
class ModelFile {
 public:
  // `path`: a GGUF file, or a folder with config.json, tokenizer.json and model.safetensors or its shards and their index.
  explicit ModelFile(const std::filesystem::path& path);

  const ModelConfig& config() const { return config_; }
  const WeightMap& weights() const { return *weights_; }
  WeightSource source() const { return source_; }

  // The tokenizer's part: of a GGUF file from its metadata, checked when it was opened; of a folder, tokenizer.json and, for eos,
  // tokenizer_config.json if there is one, read at each call. Throws TokenizerError.
  Vocabulary vocabulary() const;

  const GgufContents* gguf() const;  // nullptr for a folder
  // Of a folder: DIR/tokenizer.json, a regular file; empty for GGUF. What it says is the tokenizer's to check.
  const std::filesystem::path& tokenizer_json() const { return tokenizer_json_; }

 private:
  void open_gguf(const std::filesystem::path& path);
  void open_folder(const std::filesystem::path& folder);

  WeightSource source_ = WeightSource::gguf;
  std::variant<std::monostate, GgufFile, SafetensorsFolder> files_;
  ModelConfig config_;
  std::optional<WeightMap> weights_;
  std::optional<Vocabulary> vocabulary_;
  std::filesystem::path tokenizer_json_;
};

}  // namespace assay
