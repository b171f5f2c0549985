#include "engine/convert/target.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "engine/files/stored_types.h"
#include "engine/plan/weight_layout.h"

namespace assay {
namespace {

std::vector<Target> make_targets() {
  std::vector<Target> targets;
  for (const StoredType& type : kStoredTypes) {
    if (type.file_type < 0 || find_weight_layout(type.dtype) == nullptr) continue;
    targets.push_back({dtype_name(type.dtype), type.dtype, false, static_cast<std::uint32_t>(type.file_type)});
  }
  targets.push_back({"q4_k_m", DType::q4_k, true, 15});
  return targets;
}

bool has_more_bits(std::int64_t layer, std::int64_t layers) noexcept {
  const std::int64_t eighth = layers / 8;
  return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

}  // namespace

std::span<const Target> targets() {
  static const std::vector<Target> all = make_targets();
  return all;
}

const Target& find_target(std::string_view name) {
  std::string known;
  for (const Target& target : targets()) {
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
