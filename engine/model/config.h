// What a model is, as its file states it. Nothing is assumed: a number that the file lacks is an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/files/gguf.h"

namespace assay {

struct ModelConfig {
  std::string name;  // general.name, or the folder's
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // divides heads
  std::int64_t head_dim = 0;  // even; heads * head_dim is in general not hidden
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;  // rows of the embedding, padding included
  std::int64_t max_positions = 0;
  double rms_eps = 0;  // a GGUF file has it as f32, config.json in decimal
  double rope_theta = 0;
  bool tied = false;  // lm_head is the embedding
  std::string architecture = "qwen3";  // engine/architecture/

  std::int64_t q_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
};

// Both throw ModelFileError: architecture or feature for what the engine does not compute, missing-key, key-type, key-value.
ModelConfig read_gguf_config(const GgufContents& gguf, const std::string& file);
ModelConfig read_json_config(const std::filesystem::path& config_json);

// Bounds of the integers in a configuration: far above any model, low enough that no product of two leaves int64.
inline constexpr std::int64_t kMostLayers = 1024;
inline constexpr std::int64_t kMostWidth = 1 << 20;  // hidden, ffn
inline constexpr std::int64_t kMostHeads = 4096;
inline constexpr std::int64_t kMostHeadDim = 4096;
inline constexpr std::int64_t kMostVocab = 1 << 24;
inline constexpr std::int64_t kMostPositions = 1 << 30;

// What a source calls the numbers that are checked together.
struct ConfigKeys {
  std::string heads;
  std::string head_dim;
  std::string rms_eps;
  std::string rope_theta;
};

// What the two sources have in common: heads in whole groups, even head_dim, eps and theta in range. `file` for the error.
void check_config(const ModelConfig& config, const ConfigKeys& keys, const std::string& file);

}  // namespace assay
