#include <algorithm>
#include <array>

#include "engine/model/config.h"
#include "engine/model/gguf_keys.h"

namespace assay {
namespace {

constexpr std::string_view kArchitecture = "qwen3";

// The keys of the architecture that are read below, after "qwen3.". Any other could change the arithmetic.
constexpr std::array<std::string_view, 15> kKnownKeys{
    "block_count",          "context_length",         "embedding_length",
    "feed_forward_length",  "attention.head_count",   "attention.head_count_kv",
    "attention.key_length", "attention.value_length", "attention.layer_norm_rms_epsilon",
    "rope.freq_base",       "rope.dimension_count",   "rope.scaling.type",
    "vocab_size",           "expert_count",           "attention.sliding_window",
};

constexpr ConfigKeys kGgufKeys{"qwen3.attention.head_count", "qwen3.attention.key_length",
                               "qwen3.attention.layer_norm_rms_epsilon", "qwen3.rope.freq_base"};

void check_architecture(const GgufKeys& keys) {
  const std::string_view architecture = keys.string("general.architecture");
  if (architecture != kArchitecture) {
    const bool experts = architecture.find("moe") != std::string_view::npos;
    const bool vision = architecture.find("vl") != std::string_view::npos || architecture == "clip";
    keys.fail(Fault::architecture, "general.architecture",
              shown(architecture) +
                  (experts  ? ", a mixture of experts"
                   : vision ? ", a vision model"
                            : "") +
                  "; the engine computes 'qwen3' (dense) alone");
  }
  const auto type = keys.optional_string("general.type");
  if (type && *type != "model") keys.fail(Fault::feature, "general.type", shown(*type) + "; expected 'model'");
  if (keys.optional_integer("split.count", 0, INT64_MAX).value_or(1) > 1) {
    keys.fail(Fault::feature, "split.count", "a model split over several GGUF files; join them first (gguf-split --merge)");
  }
}

void check_features(const GgufContents& gguf, const GgufKeys& keys) {
  const std::string prefix = std::string(kArchitecture) + ".";
  for (const GgufValue& value : gguf.metadata) {
    if (!value.key.starts_with(prefix)) continue;
    const std::string_view rest = value.key.substr(prefix.size());
    if (std::find(kKnownKeys.begin(), kKnownKeys.end(), rest) == kKnownKeys.end()) {
      keys.fail(Fault::feature, value.key, "a feature that the engine does not compute");
    }
  }
  const auto scaling = keys.optional_string(prefix + "rope.scaling.type");
  if (scaling && *scaling != "none") {
    keys.fail(Fault::feature, prefix + "rope.scaling.type",
              "rope scaling " + shown(*scaling) + " is not computed; expected 'none'");
  }
  if (keys.optional_integer(prefix + "expert_count", 0, INT64_MAX).value_or(0) != 0) {
    keys.fail(Fault::feature, prefix + "expert_count", "a mixture of experts is not computed");
  }
  if (keys.optional_integer(prefix + "attention.sliding_window", 0, INT64_MAX).value_or(0) != 0) {
    keys.fail(Fault::feature, prefix + "attention.sliding_window", "sliding-window attention is not computed");
  }
}

// Keys that may be there but only say again what another said.
void check_agreement(const GgufKeys& keys, std::string_view key, std::int64_t expected) {
  const auto value = keys.optional_integer(key, 0, INT64_MAX);
  if (value && *value != expected) {
    keys.fail(Fault::key_value, key, std::to_string(*value) + "; expected " + std::to_string(expected));
  }
}

}  // namespace

ModelConfig read_gguf_config(const GgufContents& gguf, const std::string& file) {
  const GgufKeys keys(gguf, file);
  check_architecture(keys);
  check_features(gguf, keys);
  const std::string prefix = std::string(kArchitecture) + ".";
  ModelConfig config;
  config.name = keys.optional_string("general.name").value_or("");
  config.layers = keys.integer(prefix + "block_count", 1, kMostLayers);
  config.hidden = keys.integer(prefix + "embedding_length", 1, kMostWidth);
  config.heads = keys.integer(prefix + "attention.head_count", 1, kMostHeads);
  config.kv_heads = keys.integer(prefix + "attention.head_count_kv", 1, config.heads);
  config.head_dim = keys.integer(prefix + "attention.key_length", 2, kMostHeadDim);
  config.ffn = keys.integer(prefix + "feed_forward_length", 1, kMostWidth);
  config.max_positions = keys.integer(prefix + "context_length", 1, kMostPositions);
  config.rms_eps = keys.real(prefix + "attention.layer_norm_rms_epsilon");
  config.rope_theta = keys.real(prefix + "rope.freq_base");
  const std::size_t tokens = keys.strings("tokenizer.ggml.tokens").size();
  if (tokens == 0 || tokens > static_cast<std::size_t>(kMostVocab)) {
    keys.fail(Fault::vocabulary, "tokenizer.ggml.tokens",
              std::to_string(tokens) + " tokens; expected 1 to " + std::to_string(kMostVocab));
  }
  config.vocab = static_cast<std::int64_t>(tokens);
  config.tied = std::none_of(gguf.tensors.begin(), gguf.tensors.end(),
                             [](const StoredTensor& tensor) { return tensor.name == "output.weight"; });
  keys.integer(prefix + "attention.value_length", config.head_dim, config.head_dim);
  check_agreement(keys, prefix + "rope.dimension_count", config.head_dim);
  check_agreement(keys, prefix + "vocab_size", config.vocab);
  check_config(config, kGgufKeys, file);
  return config;
}

}  // namespace assay
