#include <array>
#include <nlohmann/json.hpp>

#include "engine/architecture/architecture.h"
#include "engine/files/strict_json.h"
#include "engine/model/config.h"
#include "engine/model/json_members.h"

namespace assay {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostBytes = 1U << 20;

// A member whose mere presence means arithmetic that the engine does not have.
struct Foreign {
  const char* member;
  const char* what;
};

const ConfigKeys kJsonKeys{"num_attention_heads", "head_dim", "rms_norm_eps", "rope_theta"};

constexpr std::array<Foreign, 8> kForeign{{{"num_experts", "a mixture of experts"},
                                           {"num_local_experts", "a mixture of experts"},
                                           {"moe_intermediate_size", "a mixture of experts"},
                                           {"vision_config", "a vision model"},
                                           {"audio_config", "an audio model"},
                                           {"text_config", "a model of several parts"},
                                           {"quantization_config", "quantised weights in safetensors"},
                                           {"auto_map", "a model with code of its own"}}};

bool is_text(const json& value, std::string_view text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

const PlannedArchitecture& read_architecture(const JsonMembers& members) {
  const auto refuse = [&members](const char* member, const std::string& found, const std::string& expected) {
    members.fail(Fault::architecture, member, found + "; the engine computes " + expected + " (dense) alone");
  };
  const std::string type = members.string("model_type");
  const PlannedArchitecture* const found = find_architecture(type);
  if (found == nullptr) refuse("model_type", shown(type), architecture_names());
  const json* architectures = members.find("architectures");
  if (architectures == nullptr) members.fail(Fault::missing_key, "architectures", "it is missing");
  if (!architectures->is_array() || architectures->size() != 1 || !is_text(architectures->front(), found->hf_class)) {
    refuse("architectures", shown(architectures->dump()), "[\"" + std::string(found->hf_class) + "\"]");
  }
  return *found;
}

void check_layer_types(const JsonMembers& members, std::int64_t layers) {
  const json* types = members.find("layer_types");
  if (types == nullptr) return;
  if (!types->is_array() || types->size() != static_cast<std::size_t>(layers)) {
    members.fail(Fault::key_value, "layer_types", "expected an array of " + std::to_string(layers) + " strings, one a layer");
  }
  for (const json& type : *types) {
    if (is_text(type, "full_attention")) continue;
    members.fail(Fault::feature, "layer_types", shown(type.dump()) + " is not computed; expected 'full_attention'");
  }
}

void check_features(const JsonMembers& members) {
  for (const Foreign& foreign : kForeign) {
    if (members.find(foreign.member) != nullptr) {
      members.fail(Fault::feature, foreign.member, std::string(foreign.what) + " is not computed");
    }
  }
  const std::string act = members.string("hidden_act");
  if (act != "silu") members.fail(Fault::feature, "hidden_act", shown(act) + " is not computed; expected 'silu'");
  if (members.optional_boolean("attention_bias").value_or(false)) {
    members.fail(Fault::feature, "attention_bias", "biases are not computed; expected false");
  }
  if (members.optional_boolean("mlp_bias").value_or(false)) {
    members.fail(Fault::feature, "mlp_bias", "biases are not computed; expected false");
  }
  if (members.optional_boolean("use_sliding_window").value_or(false)) {
    members.fail(Fault::feature, "use_sliding_window", "sliding-window attention is not computed; expected false");
  }
}

// transformers 4 states the type as torch_dtype, transformers 5 as dtype. The tensors' own types count; this one must be known.
void check_dtype(const JsonMembers& members) {
  for (const char* name : {"torch_dtype", "dtype"}) {
    const auto dtype = members.optional_string(name);
    if (dtype && *dtype != "bfloat16" && *dtype != "float16" && *dtype != "float32") {
      members.fail(Fault::feature, name, shown(*dtype) + " is not computed; expected 'bfloat16', 'float16' or 'float32'");
    }
  }
}

// One description of rope, {rope_type, rope_theta, ...}: anything but the plain kind is refused.
std::optional<double> plain_rope(const JsonMembers& members, const char* name, const std::string& file) {
  const json* rope = members.find(name);
  if (rope == nullptr) return std::nullopt;
  if (!rope->is_object()) members.fail(Fault::key_type, name, std::string(rope->type_name()) + "; expected an object");
  const JsonMembers inner(*rope, file, std::string(name) + ".");
  for (const auto& [member, value] : rope->items()) {
    if (member == "rope_theta" || value.is_null()) continue;
    const bool is_type = member == "rope_type" || member == "type";
    if (is_type && is_text(value, "default")) continue;
    if (member == "partial_rotary_factor" && value.is_number() && value.get<double>() == 1) continue;
    inner.fail(Fault::feature, member, "rope scaling is not computed" + std::string(is_type ? "; expected 'default'" : ""));
  }
  return inner.optional_real("rope_theta");
}

double rope_theta(const JsonMembers& members, const std::string& file) {
  const auto newer = plain_rope(members, "rope_parameters", file);
  const auto scaling = plain_rope(members, "rope_scaling", file);
  const auto older = members.optional_real("rope_theta");
  const auto theta = newer ? newer : older ? older : scaling;
  if (!theta) members.fail(Fault::missing_key, "rope_theta", "neither it nor rope_parameters.rope_theta is there");
  for (const auto& other : {newer, older, scaling}) {
    if (other && *other != *theta) members.fail(Fault::key_value, "rope_theta", "it and rope_parameters.rope_theta disagree");
  }
  return *theta;
}

}  // namespace

ModelConfig read_json_config(const std::filesystem::path& config_json) {
  const MappedFile file(config_json);
  const json top = read_strict_json(file, kMostBytes);
  const JsonMembers members(top, file.name());
  ModelConfig config;
  config.architecture = read_architecture(members).name;
  check_features(members);
  check_dtype(members);
  config.name = std::filesystem::absolute(config_json).parent_path().filename().string();
  config.layers = members.integer("num_hidden_layers", 1, kMostLayers);
  config.hidden = members.integer("hidden_size", 1, kMostWidth);
  config.heads = members.integer("num_attention_heads", 1, kMostHeads);
  config.kv_heads = members.integer("num_key_value_heads", 1, config.heads);
  config.head_dim = members.integer("head_dim", 2, kMostHeadDim);
  config.ffn = members.integer("intermediate_size", 1, kMostWidth);
  config.vocab = members.integer("vocab_size", 1, kMostVocab);
  config.max_positions = members.integer("max_position_embeddings", 1, kMostPositions);
  config.rms_eps = members.real("rms_norm_eps");
  config.rope_theta = rope_theta(members, file.name());
  config.tied = members.boolean("tie_word_embeddings");
  check_layer_types(members, config.layers);
  check_config(config, kJsonKeys, file.name());
  return config;
}

}  // namespace assay
