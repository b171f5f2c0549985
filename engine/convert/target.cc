#include "engine/convert/target.h"

#include <array>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

constexpr std::array<Target, 10> kTargets{{{"f32", DType::f32, false, 0},
                                           {"f16", DType::f16, false, 1},
                                           {"bf16", DType::bf16, false, 32},
                                           {"q4_0", DType::q4_0, false, 2},
                                           {"q5_0", DType::q5_0, false, 8},
                                           {"q8_0", DType::q8_0, false, 7},
                                           {"q4_k", DType::q4_k, false, 14},
                                           {"q5_k", DType::q5_k, false, 16},
                                           {"q6_k", DType::q6_k, false, 18},
                                           {"q4_k_m", DType::q4_k, true, 15}}};

bool has_more_bits(std::int64_t layer, std::int64_t layers) noexcept {
  const std::int64_t eighth = layers / 8;
  return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

}  // namespace

std::span<const Target> targets() noexcept {
  return kTargets;
}

const Target& find_target(std::string_view name) {
  std::string known;
  for (const Target& target : kTargets) {
    if (target.name == name) return target;
    known.append(known.empty() ? "" : ", ").append(target.name);
  }
  const auto dtype = dtype_from_name(name);
  const std::string why = dtype && is_block(*dtype) ? "no kernel multiplies by weights of type " : "unknown type ";
  throw std::invalid_argument(why + std::string(name) + "; expected one of " + known);
}

DType target_type(const Target& target, Role role, std::int64_t layer, std::int64_t layers, bool tied) noexcept {
  if (is_norm(role)) return DType::f32;
  if (!target.mix) return target.matrices;
  const bool logits = role == Role::lm_head || (role == Role::embed && tied);
  const bool wide = (role == Role::v_proj || role == Role::down_proj) && has_more_bits(layer, layers);
  return logits || wide ? DType::q6_k : target.matrices;
}

}  // namespace assay
