#include "engine/convert/metadata.h"

#include "engine/convert/tokenizer_metadata.h"

namespace assay {
namespace {

constexpr std::string_view kVersionKey = "general.quantization_version";
constexpr std::string_view kFileTypeKey = "general.file_type";
constexpr std::uint32_t kQuantizationVersion = 2;  // of ggml's block formats; 1 were those before May 2023

}  // namespace

void write_file_type(const Target& target, GgufWriter& writer) {
  writer.add(kVersionKey, kQuantizationVersion);
  writer.add(kFileTypeKey, target.file_type);
}

void copy_metadata(const GgufContents& source, const Target& target, GgufWriter& writer) {
  for (const GgufValue& value : source.metadata) {
    if (value.key != kVersionKey && value.key != kFileTypeKey) writer.add_value(value);
  }
  write_file_type(target, writer);
}

void write_config(const ModelConfig& config, GgufWriter& writer) {
  const std::string prefix = config.architecture + ".";
  const auto count = [&](std::string_view key, std::int64_t value) {
    writer.add(prefix + std::string(key), static_cast<std::uint32_t>(value));
  };
  writer.add_string("general.architecture", config.architecture);
  writer.add_string("general.type", "model");
  writer.add_string("general.name", config.name);
  count("block_count", config.layers);
  count("context_length", config.max_positions);
  count("embedding_length", config.hidden);
  count("feed_forward_length", config.ffn);
  count("attention.head_count", config.heads);
  count("attention.head_count_kv", config.kv_heads);
  count("attention.key_length", config.head_dim);
  count("attention.value_length", config.head_dim);
  writer.add(prefix + "attention.layer_norm_rms_epsilon", static_cast<float>(config.rms_eps));
  writer.add(prefix + "rope.freq_base", static_cast<float>(config.rope_theta));
}

void write_metadata(const std::filesystem::path& folder, const ModelConfig& config, const Target& target, GgufWriter& writer) {
  write_config(config, writer);
  write_tokenizer(read_tokenizer_metadata(folder, config.vocab), writer);
  write_file_type(target, writer);
}

}  // namespace assay
