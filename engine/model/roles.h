// The weights of a Qwen3 model: what each is for, its names in both sources, its shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/model/config.h"

namespace assay {

enum class Role : std::uint8_t {
  embed,
  attn_norm,
  q_proj,
  k_proj,
  v_proj,
  q_norm,
  k_norm,
  o_proj,
  ffn_norm,
  gate_proj,
  up_proj,
  down_proj,
  final_norm,
  lm_head,
};
inline constexpr int kRoles = static_cast<int>(Role::lm_head) + 1;

// One per layer, or one in the model.
bool is_per_layer(Role role) noexcept;
// A vector that a norm multiplies with; the others are matrices [rows, cols], y = W x.
bool is_norm(Role role) noexcept;

// {rows, cols}; {1, n} for a norm.
std::pair<std::int64_t, std::int64_t> role_shape(Role role, const ModelConfig& config) noexcept;

// The site whose step uses the weight: "layers.07.q_proj", "embed". `layer` is ignored where there is one in the model.
std::string site_of(Role role, std::int64_t layer);

std::string gguf_tensor_name(Role role, std::int64_t layer);  // "blk.7.attn_q.weight"
std::string hf_tensor_name(Role role, std::int64_t layer);    // "model.layers.7.self_attn.q_proj.weight"

}  // namespace assay
