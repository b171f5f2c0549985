// config.json: what is missing, of another type, out of range, or a feature that the engine does not compute.
#include "tests/malformed/folder_image.h"

namespace assay::malformed {
namespace {

void add_config(std::vector<Case>& cases, const std::string& name, const std::string& mechanism, Fault fault,
                const std::string& mentions, const std::string& config) {
  auto files = right_folder();
  files["config.json"] = from_text(config);
  cases.push_back({"config-" + name, mechanism, std::move(files), fault, "config.json", mentions});
}

// A line of right_config(), `"key": value`, with another value.
struct Member {
  const char* key;
  const char* value;
};

constexpr Member kMembers[] = {
    {"num_hidden_layers", "2"}, {"hidden_size", "32"},       {"num_attention_heads", "2"}, {"num_key_value_heads", "1"},
    {"head_dim", "16"},         {"intermediate_size", "64"}, {"vocab_size", "8"},          {"max_position_embeddings", "64"}};

std::string line(const std::string& key, const std::string& value) {
  return "\"" + key + "\": " + value;
}

std::string subject(const std::string& key) {
  return "key '" + key + "'";
}

void add_file(std::vector<Case>& cases) {
  const std::string mechanism = "a file that is no JSON object";
  add_config(cases, "empty", mechanism, Fault::truncated, "byte 0", "");
  add_config(cases, "list", mechanism, Fault::json, "byte 0", "[]");
  add_config(cases, "cut", mechanism, Fault::json, "byte", right_config().substr(0, 100));
  add_config(cases, "not-utf8", mechanism, Fault::json, "byte", replaced(right_config(), "silu", "sil\xfc"));
  add_config(cases, "comment", mechanism, Fault::json, "byte", "// config\n" + right_config());
  add_config(cases, "nested-deeply", "a parser that recurses", Fault::json_limit, "member", "{\"a\":" + std::string(50'000, '['));
  add_config(cases, "over-a-mebibyte", "a file of any size read into memory", Fault::json_limit, "byte 1048576",
             right_config() + std::string(1 << 20, ' '));
  add_config(cases, "key-twice", "the first checked, the second used", Fault::duplicate, "member 'hidden_size'",
             replaced(right_config(), "\"hidden_size\"", "\"hidden_size\": 64, \"hidden_size\""));
  auto files = right_folder();
  files.erase("config.json");
  cases.push_back(
      {"config-absent", "weights without a configuration", files, Fault::unreadable, "config.json", "cannot be read"});
  files = right_folder();
  files.erase("tokenizer.json");
  cases.push_back(
      {"tokenizer-absent", "a model without a tokenizer", files, Fault::unreadable, "tokenizer.json", "regular file"});
  files = right_folder();
  files.erase("model.safetensors");
  cases.push_back(
      {"weights-absent", "a configuration without weights", files, Fault::unreadable, "model.safetensors", "cannot be read"});
}

void add_members(std::vector<Case>& cases) {
  for (const Member& member : kMembers) {
    const std::string key = member.key;
    const std::string value = member.value;
    const std::string right = line(key, value);
    const auto with = [&](const std::string& other) { return replaced(right_config(), right, line(key, other)); };
    add_config(cases, "missing-" + key, "a default in place of what the file must say", Fault::missing_key, subject(key),
               replaced(right_config(), right, line(key + "_", value)));
    add_config(cases, "null-" + key, "a default in place of what the file must say", Fault::missing_key, subject(key),
               with("null"));
    add_config(cases, "text-" + key, "a value read as another type", Fault::key_type, subject(key), with("\"2\""));
    add_config(cases, "real-" + key, "a value read as another type", Fault::key_type, subject(key), with("2.5"));
    add_config(cases, "zero-" + key, "a division by zero, or a model of nothing", Fault::key_value, subject(key), with("0"));
    add_config(cases, "negative-" + key, "a negative number read as a size", Fault::key_value, subject(key), with("-1"));
    add_config(cases, "huge-" + key, "sizes that wrap, allocations on a number's word", Fault::key_value, subject(key),
               with("18446744073709551615"));
  }
}

void add_values(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, Fault fault, const std::string& mentions, const std::string& from,
                            const std::string& to) {
    add_config(cases, name, "numbers that do not fit together, or make every activation infinite", fault, mentions,
               replaced(right_config(), from, to));
  };
  add("kv-heads-beyond-heads", Fault::key_value, subject("num_key_value_heads"), line("num_key_value_heads", "1"),
      line("num_key_value_heads", "4"));
  add("heads-in-broken-groups", Fault::key_value, subject("num_attention_heads"),
      "\"num_attention_heads\": 2,\n  \"num_hidden_layers\": 2,\n  \"num_key_value_heads\": 1",
      "\"num_attention_heads\": 3,\n  \"num_hidden_layers\": 2,\n  \"num_key_value_heads\": 2");
  add("head-dim-odd", Fault::key_value, subject("head_dim"), line("head_dim", "16"), line("head_dim", "15"));
  add("eps-zero", Fault::key_value, subject("rms_norm_eps"), "1e-06", "0");
  add("eps-negative", Fault::key_value, subject("rms_norm_eps"), "1e-06", "-1e-06");
  add("eps-text", Fault::key_type, subject("rms_norm_eps"), "1e-06", "\"1e-06\"");
  add("eps-beyond-fp64", Fault::json, "byte", "1e-06", "1e400");
  add("theta-zero", Fault::key_value, subject("rope_theta"), "1000000.0", "0.0");
  add("theta-text", Fault::key_type, subject("rope_parameters.rope_theta"), "1000000.0", "\"1e6\"");
  add("theta-missing", Fault::missing_key, subject("rope_theta"), "\"rope_theta\": 1000000.0, ", "");
  add("theta-two-answers", Fault::key_value, subject("rope_theta"), "\"rope_parameters\"",
      "\"rope_theta\": 10000.0, \"rope_parameters\"");
  add("tied-missing", Fault::missing_key, subject("tie_word_embeddings"), "tie_word_embeddings", "tied");
  add("tied-number", Fault::key_type, subject("tie_word_embeddings"), "\"tie_word_embeddings\": true",
      "\"tie_word_embeddings\": 1");
  add("untied-without-head", Fault::missing_tensor, "tensor 'lm_head.weight'", "\"tie_word_embeddings\": true",
      "\"tie_word_embeddings\": false");
  cases.back().file = "model.safetensors";
  add("layer-types-short", Fault::key_value, subject("layer_types"), "[\"full_attention\", \"full_attention\"]",
      "[\"full_attention\"]");
  add("one-layer-less", Fault::unexpected_tensor, "tensor 'model.layers.1.",
      "\"layer_types\": [\"full_attention\", \"full_attention\"],\n  \"max_position_embeddings\": 64,\n  \"model_type\": "
      "\"qwen3\",\n  "
      "\"num_attention_heads\": 2,\n  \"num_hidden_layers\": 2",
      "\"max_position_embeddings\": 64,\n  \"model_type\": \"qwen3\",\n  \"num_attention_heads\": 2,\n  \"num_hidden_layers\": "
      "1");
  cases.back().file = "model.safetensors";
  add("vocabulary-beyond-rows", Fault::tensor_shape, "tensor 'model.embed_tokens.weight'", line("vocab_size", "8"),
      line("vocab_size", "16"));
  cases.back().file = "model.safetensors";
  cases.back().mechanism = "an id beyond the embedding (kin of CVE-2025-49847)";
}

void add_features(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, Fault fault, const std::string& key, const std::string& from,
                            const std::string& to) {
    add_config(cases, "feature-" + name, "a feature that is ignored and changes every answer", fault, subject(key),
               replaced(right_config(), from, to));
  };
  const std::string type = "\"model_type\": \"qwen3\"";
  for (const char* other : {"qwen3_moe", "qwen3_vl", "qwen2", "llama", "qwen3_next"}) {
    add(std::string("model-type-") + other, Fault::architecture, "model_type", type,
        "\"model_type\": \"" + std::string(other) + "\"");
  }
  for (const char* other : {"Qwen3MoeForCausalLM", "Qwen3ForSequenceClassification", "Qwen3Model"}) {
    add(std::string("architecture-") + other, Fault::architecture, "architectures", "Qwen3ForCausalLM", other);
  }
  add("architectures-missing", Fault::missing_key, "architectures", "\"architectures\"", "\"architecture\"");
  add("architectures-two", Fault::architecture, "architectures", "[\"Qwen3ForCausalLM\"]", "[\"Qwen3ForCausalLM\", \"Other\"]");
  const auto extra = [&](const std::string& key, const std::string& value) {
    add("has-" + key, Fault::feature, key, type, type + ", \"" + key + "\": " + value);
  };
  extra("num_experts", "128");
  extra("moe_intermediate_size", "768");
  extra("vision_config", "{}");
  extra("text_config", "{}");
  extra("quantization_config", "{\"quant_method\": \"fp8\"}");
  extra("auto_map", "{\"AutoModel\": \"modeling.Other\"}");
  extra("mlp_bias", "true");
  extra("torch_dtype", "\"float8_e4m3fn\"");
  add("dtype", Fault::feature, "dtype", "\"bfloat16\"", "\"int8\"");
  add("gelu", Fault::feature, "hidden_act", "\"silu\"", "\"gelu\"");
  add("attention-bias", Fault::feature, "attention_bias", "\"attention_bias\": false", "\"attention_bias\": true");
  add("sliding-window", Fault::feature, "use_sliding_window", "\"use_sliding_window\": false", "\"use_sliding_window\": true");
  add("sliding-layer", Fault::feature, "layer_types", "[\"full_attention\", ", "[\"sliding_attention\", ");
  add("yarn", Fault::feature, "rope_parameters.rope_type", "\"rope_type\": \"default\"", "\"rope_type\": \"yarn\"");
  add("rope-factor", Fault::feature, "rope_parameters.factor", "\"rope_type\": \"default\"",
      "\"rope_type\": \"default\", \"factor\": 4.0");
  add("rope-partial", Fault::feature, "rope_parameters.partial_rotary_factor", "\"rope_type\": \"default\"",
      "\"rope_type\": \"default\", \"partial_rotary_factor\": 0.5");
  add("rope-scaling", Fault::feature, "rope_scaling.factor", type,
      type + ", \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4.0}");
  add("rope-not-object", Fault::key_type, "rope_parameters", "{\"rope_theta\": 1000000.0, \"rope_type\": \"default\"}",
      "\"default\"");
}

}  // namespace

void add_config_cases(std::vector<Case>& cases) {
  add_file(cases);
  add_members(cases);
  add_values(cases);
  add_features(cases);
}

}  // namespace assay::malformed
