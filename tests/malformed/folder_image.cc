#include "tests/malformed/folder_image.h"

#include <algorithm>
#include <stdexcept>

namespace assay::malformed {
namespace {

void add_tensor(SafetensorsImage& image, const std::string& name, const std::vector<int>& dims) {
  std::string shape;
  std::uint64_t size = 2;
  for (const int dim : dims) {
    shape.append(shape.empty() ? "" : ",").append(std::to_string(dim));
    size *= static_cast<std::uint64_t>(dim);
  }
  std::uint64_t begin = 0;
  for (const HeaderEntry& entry : image.entries) begin += entry.size;
  image.entries.push_back(
      {name, "\"BF16\"", "[" + shape + "]", "[" + std::to_string(begin) + "," + std::to_string(begin + size) + "]", size});
}

void add_layer(SafetensorsImage& image, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  add_tensor(image, prefix + "input_layernorm.weight", {32});
  add_tensor(image, prefix + "self_attn.q_proj.weight", {32, 32});
  add_tensor(image, prefix + "self_attn.k_proj.weight", {16, 32});
  add_tensor(image, prefix + "self_attn.v_proj.weight", {16, 32});
  add_tensor(image, prefix + "self_attn.q_norm.weight", {16});
  add_tensor(image, prefix + "self_attn.k_norm.weight", {16});
  add_tensor(image, prefix + "self_attn.o_proj.weight", {32, 32});
  add_tensor(image, prefix + "post_attention_layernorm.weight", {32});
  add_tensor(image, prefix + "mlp.gate_proj.weight", {64, 32});
  add_tensor(image, prefix + "mlp.up_proj.weight", {64, 32});
  add_tensor(image, prefix + "mlp.down_proj.weight", {32, 64});
}

std::string weight_map(const SafetensorsImage& image, const char* shard) {
  std::string text;
  for (const HeaderEntry& entry : image.entries) text += "\"" + entry.name + "\":\"" + shard + "\",";
  return text;
}

}  // namespace

std::string HeaderEntry::text() const {
  return "\"" + name + "\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

std::string SafetensorsImage::header() const {
  std::string text = R"({"__metadata__":{"format":"pt"})";
  for (const HeaderEntry& entry : entries) text += "," + entry.text();
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

Bytes SafetensorsImage::build() const {
  std::uint64_t data = 0;
  for (const HeaderEntry& entry : entries) data += entry.size;
  return safetensors_file(header(), data);
}

HeaderEntry& SafetensorsImage::entry(const std::string& name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&name](const HeaderEntry& entry) { return entry.name == name; });
  if (found == entries.end()) throw std::logic_error("no tensor " + name);
  return *found;
}

Bytes safetensors_file(const std::string& header, std::uint64_t data) {
  Bytes out;
  put<std::uint64_t>(out, header.size());
  put_text(out, header);
  for (std::uint64_t i = 0; i < data; ++i) out.push_back(static_cast<std::uint8_t>(i * 11 + i / 256));
  return out;
}

SafetensorsImage right_safetensors() {
  SafetensorsImage image;
  add_tensor(image, "model.embed_tokens.weight", {8, 32});
  add_layer(image, 0);
  add_layer(image, 1);
  add_tensor(image, "model.norm.weight", {32});
  return image;
}

std::string right_config() {
  return R"({
  "architectures": ["Qwen3ForCausalLM"],
  "attention_bias": false,
  "dtype": "bfloat16",
  "eos_token_id": 7,
  "head_dim": 16,
  "hidden_act": "silu",
  "hidden_size": 32,
  "intermediate_size": 64,
  "layer_types": ["full_attention", "full_attention"],
  "max_position_embeddings": 64,
  "model_type": "qwen3",
  "num_attention_heads": 2,
  "num_hidden_layers": 2,
  "num_key_value_heads": 1,
  "rms_norm_eps": 1e-06,
  "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"},
  "sliding_window": null,
  "tie_word_embeddings": true,
  "use_sliding_window": false,
  "vocab_size": 8
})";
}

std::map<std::string, Bytes> right_folder() {
  return {{"config.json", from_text(right_config())},
          {"tokenizer.json", from_text("{}")},
          {"model.safetensors", right_safetensors().build()}};
}

std::map<std::string, Bytes> right_shards() {
  SafetensorsImage first;
  add_tensor(first, "model.embed_tokens.weight", {8, 32});
  add_layer(first, 0);
  SafetensorsImage second;
  add_layer(second, 1);
  add_tensor(second, "model.norm.weight", {32});
  std::string map = weight_map(first, kFirstShard) + weight_map(second, kSecondShard);
  map.pop_back();
  return {{"config.json", from_text(right_config())},
          {"tokenizer.json", from_text("{}")},
          {kFirstShard, first.build()},
          {kSecondShard, second.build()},
          {kIndex, from_text(R"({"metadata":{"total_size":0},"weight_map":{)" + map + "}}")}};
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) throw std::logic_error("not once: " + from);
  return text.substr(0, at) + to + text.substr(at + from.size());
}

}  // namespace assay::malformed
