#include "engine/model/roles.h"

#include <array>

namespace assay {
namespace {

struct RoleNames {
  std::string_view site;
  std::string_view gguf;
  std::string_view hf;
};

// In the order of Role; of a layer's weights, what follows the layer's number.
constexpr std::array<RoleNames, kRoles> kNames{{{"embed", "token_embd.weight", "model.embed_tokens.weight"},
                                                {"attn_norm", "attn_norm.weight", "input_layernorm.weight"},
                                                {"q_proj", "attn_q.weight", "self_attn.q_proj.weight"},
                                                {"k_proj", "attn_k.weight", "self_attn.k_proj.weight"},
                                                {"v_proj", "attn_v.weight", "self_attn.v_proj.weight"},
                                                {"q_norm", "attn_q_norm.weight", "self_attn.q_norm.weight"},
                                                {"k_norm", "attn_k_norm.weight", "self_attn.k_norm.weight"},
                                                {"o_proj", "attn_output.weight", "self_attn.o_proj.weight"},
                                                {"ffn_norm", "ffn_norm.weight", "post_attention_layernorm.weight"},
                                                {"gate_proj", "ffn_gate.weight", "mlp.gate_proj.weight"},
                                                {"up_proj", "ffn_up.weight", "mlp.up_proj.weight"},
                                                {"down_proj", "ffn_down.weight", "mlp.down_proj.weight"},
                                                {"final_norm", "output_norm.weight", "model.norm.weight"},
                                                {"lm_head", "output.weight", "lm_head.weight"}}};

const RoleNames& names(Role role) noexcept {
  return kNames[static_cast<std::size_t>(role)];
}

std::string layer_name(std::string_view prefix, std::string number, std::string_view rest) {
  return std::string(prefix).append(number).append(".").append(rest);
}

}  // namespace

bool is_per_layer(Role role) noexcept {
  return role != Role::embed && role != Role::final_norm && role != Role::lm_head;
}

bool is_norm(Role role) noexcept {
  return role == Role::attn_norm || role == Role::q_norm || role == Role::k_norm || role == Role::ffn_norm ||
         role == Role::final_norm;
}

std::pair<std::int64_t, std::int64_t> role_shape(Role role, const ModelConfig& config) noexcept {
  switch (role) {
    case Role::embed:
    case Role::lm_head:
      return {config.vocab, config.hidden};
    case Role::q_proj:
      return {config.q_width(), config.hidden};
    case Role::k_proj:
    case Role::v_proj:
      return {config.kv_width(), config.hidden};
    case Role::o_proj:
      return {config.hidden, config.q_width()};
    case Role::q_norm:
    case Role::k_norm:
      return {1, config.head_dim};
    case Role::gate_proj:
    case Role::up_proj:
      return {config.ffn, config.hidden};
    case Role::down_proj:
      return {config.hidden, config.ffn};
    case Role::attn_norm:
    case Role::ffn_norm:
    case Role::final_norm:
      break;
  }
  return {1, config.hidden};
}

std::string site_of(Role role, std::int64_t layer) {
  if (!is_per_layer(role)) return std::string(names(role).site);
  return layer_name("layers.", (layer < 10 ? "0" : "") + std::to_string(layer), names(role).site);
}

std::string gguf_tensor_name(Role role, std::int64_t layer) {
  if (!is_per_layer(role)) return std::string(names(role).gguf);
  return layer_name("blk.", std::to_string(layer), names(role).gguf);
}

std::string hf_tensor_name(Role role, std::int64_t layer) {
  if (!is_per_layer(role)) return std::string(names(role).hf);
  return layer_name("model.layers.", std::to_string(layer), names(role).hf);
}

}  // namespace assay
