// What a model's matrices are stored as: one type for all, or a mix by weight and layer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/roles.h"
#include "golden/dtype.h"

namespace assay {

struct Target {
  std::string_view name;    // "q4_k_m"
  DType matrices;           // of most matrices
  bool mix;                 // some are q6_k: target_type()
  std::uint32_t file_type;  // general.file_type, llama.cpp's number
};

// Those whose types all have a kernel that multiplies.
std::span<const Target> targets();

// Throws std::invalid_argument that lists the targets; for a format that can be decoded but not multiplied it says so.
const Target& find_target(std::string_view name);

// The type of a weight in a model of `layers` layers. Norms are f32. Q4_K_M is q6_k in the matrix of the logits (the embedding,
// where it is `tied` to it) and, in v_proj and down_proj, in the first and the last eighth of the layers and every third
// between; q4_k elsewhere. Source: llama.cpp's quantiser.
DType target_type(const Target& target, Role role, std::int64_t layer, std::int64_t layers, bool tied) noexcept;

}  // namespace assay
