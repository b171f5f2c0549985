// docs/numerics.md, "attention": how far one query's outputs may be from the truth.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/arithmetic.h"

namespace assay::reference {

// The keys of one query that are neither masked nor have a score of -inf, ascending.
struct AttentionKeys {
  std::span<const std::int64_t> position;
  Eigen::ArrayXd score;                 // s_j = a q . k_j
  Eigen::ArrayXd extent;                // |a| sum |q_i k_ji|
  Eigen::ArrayXd lost;                  // of that, where q or k may be read as zero; empty: nothing is flushed
  Eigen::Ref<const Eigen::MatrixXd> v;  // [keys, head_dim]
};

struct AttentionOutputs {
  Eigen::ArrayXd value;
  Eigen::ArrayXd bound;
  // As Expected's: a sum near overflow, a V not finite whose weight may be lost (kNotFinite), or the bound void.
  std::vector<std::uint8_t> bits_only;
};

// At least one key; scores finite.
AttentionOutputs attention_outputs(const AttentionKeys& keys, const Arithmetic& how);

}  // namespace assay::reference
