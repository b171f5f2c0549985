#include <algorithm>
#include <array>

#include "engine/architecture/architecture.h"
#include "engine/model/config.h"
#include "engine/model/gguf_keys.h"

namespace assay {
namespace {

// The keys of the architecture that are read below, after its name. Any other could change the arithmetic.
constexpr std::array<std::string_view, 15> kKnownKeys{
    "block_count",          "context_length",         "embedding_length",
    "feed_forward_length",  "attention.head_count",   "attention.head_count_kv",
    "attention.key_length", "attention.value_length", "attention.layer_norm_rms_epsilon",
    "rope.freq_base",       "rope.dimension_count",   "rope.scaling.type",
    "vocab_size",           "expert_count",           "attention.sliding_window",
};

const PlannedArchitecture& read_architecture(const GgufKeys& keys) {
  const std::string_view architecture = keys.string("general.architecture");
  const PlannedArchitecture* const found = find_architecture(architecture);
  if (found == nullptr) {
    const bool experts = architecture.find("moe") != std::string_view::npos;
    const bool vision = architecture.find("vl") != std::string_view::npos || architecture == "clip";
    keys.fail(Fault::architecture, "general.architecture",
              shown(architecture) +
                  (experts  ? ", a mixture of experts"
                   : vision ? ", a vision model"
                            : "") +
                  "; the engine computes " + architecture_names() + " (dense) alone");
  }
  const auto type = keys.optional_string("general.type");
  if (type && *type != "model") keys.fail(Fault::feature, "general.type", shown(*type) + "; expected 'model'");
  if (keys.optional_integer("split.count", 0, INT64_MAX).value_or(1) > 1) {
    keys.fail(Fault::feature, "split.count", "a model split over several GGUF files; join them first (gguf-split --merge)");
  }
  return *found;
}

void check_features(const GgufContents& gguf, const GgufKeys& keys, const std::string& prefix) {
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
  ModelConfig config;
  config.architecture = read_architecture(keys).name;
  const std::string prefix = config.architecture + ".";
  check_features(gguf, keys, prefix);
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
  check_config(config,
               {prefix + "attention.head_count", prefix + "attention.key_length", prefix + "attention.layer_norm_rms_epsilon",
                prefix + "rope.freq_base"},
               file);
  return config;
}

}  // namespace assay
