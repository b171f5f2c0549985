// A site's value by the definition, in fp64, from given inputs; and how far a right engine of some recipe may be from it, in whatever
// order it sums. No kernel of ours takes part.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/threads.h"
#include "harness/forensics/audit/recipe.h"
#include "harness/forensics/model/definition.h"

namespace assay {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Rows of a matrix of weights in fp64. `split` holds |d sc q| + |dmin m| where a weight is a difference of two products, else |w|.
struct WeightRows {
  RowMatrix value;
  RowMatrix split;
};

// A matrix of weights, whose rows are decoded when they are asked for: all of them in fp64 may be many times the model's file.
class DecodedWeight {
 public:
  // Of a model, which must outlive the object. Throws std::invalid_argument for a type that is none of weights.
  explicit DecodedWeight(const Weight& stored);
  // These numbers, as they are.
  explicit DecodedWeight(RowMatrix numbers);

  std::int64_t rows() const { return stored_ != nullptr ? stored_->rows : held_.value.rows(); }
  std::int64_t cols() const { return stored_ != nullptr ? stored_->cols : held_.value.cols(); }
  std::int64_t blocks() const { return blocks_; }  // of a row; 0 where numbers are not in blocks
  WeightRows rows(std::int64_t first, std::int64_t count) const;
  // Decoded as a whole.
  DecodedWeight transposed() const;
  DecodedWeight through(WeightRounding rounding) const;

 private:
  WeightRows wide_rows(std::int64_t first, std::int64_t count) const;

  const Weight* stored_ = nullptr;
  WeightRows held_;  // where nothing is stored
  ActivationRounding narrowed_ = ActivationRounding::none;
  std::int64_t blocks_ = 0;
};

// Rows that `evaluate` decodes at a time, on each thread.
inline constexpr std::int64_t kDecodedRows = 64;

struct Truth {
  RowMatrix value;  // [row, feature]
  RowMatrix bound;
};

enum class Gate : std::uint8_t { silu, gelu, gelu_tanh, relu, sigmoid, identity };

// What a formula needs. Unused parts are left empty.
struct SiteCall {
  Formula formula = Formula::add;
  std::vector<RowMatrix> inputs;        // each [row, feature]; for attention q, then k and v of all positions from 0 on
  std::vector<std::int32_t> positions;  // of the rows
  std::vector<std::int32_t> tokens;     // embed: of the rows
  const DecodedWeight* weight = nullptr;
  ActivationRounding activations = ActivationRounding::none;
  std::int64_t heads = 1;     // of the output; rms_norm, rope, attention
  std::int64_t kv_heads = 1;  // attention
  double eps = 0;
  double theta = 0;
  std::int64_t window = 0;  // attention: positions that it looks back at; 0: all
  // What follows is right as it is; other values are known ways to be wrong.
  bool eps_outside = false;                                   // rms_norm: eps added to the root, not under it
  bool centred = false;                                       // rms_norm: the mean is taken off first
  bool heads_together = false;                                // rms_norm: one root for the whole row
  bool adjacent = false;                                      // rope: pairs (2i, 2i + 1)
  std::int64_t rotated_quarters = 4;                          // rope: of the first so many quarters of a head alone
  double turn = 1;                                            // rope: of the angle
  ActivationRounding frequencies = ActivationRounding::none;  // rope: these, angles, or sines and cosines in a narrow type
  ActivationRounding angles = ActivationRounding::none;
  ActivationRounding sines = ActivationRounding::none;
  std::int64_t shift = 0;                // rope: of the positions
  bool kv_modulo = false;                // attention: kv head = h % kv_heads
  std::int64_t mask_ahead = 0;           // attention: keys up to position + this
  double mask_depth = 0;                 // attention: what is taken off the scores of later tokens; 0: they are hidden
  std::vector<std::int64_t> kv_of = {};  // attention: the kv head of each head
  std::int64_t chunk = 0;                // attention: only keys of the same so many positions are seen; 0: all
  std::int64_t first_key = 0;            // attention: keys before this are hidden from all later rows
  std::int64_t prefix = 0;               // attention: keys before this are seen by all rows
  double alibi = 0;                      // attention: times ALiBi's slope of the head and the key's distance, taken off the score
  double score_scale = 0;                // attention; 0: 1 / sqrt(head_dim)
  double score_cap = 0;                  // attention: scores s become cap tanh(s / cap); 0: they stay
  double sink = 0;                       // attention: added to the sum of e^s
  bool half_cache = false;               // attention: q, k and v rounded to f16, the softmax's weights too
  ActivationRounding softmax = ActivationRounding::none;  // attention: scores and weights rounded so
  std::array<double, 2> factors{1, 1};                    // add: of the two summands
  Gate gate = Gate::silu;                                 // swiglu
  double beta = 1;                                        // swiglu: what silu's sigmoid multiplies the gate by
  double gate_limit = 0;                                  // swiglu: the gate is at most this; 0: as it is
  double up_limit = 0;                                    // swiglu: likewise, to both sides
};

// By the team's threads, in blocks that do not depend on how many there are: nor do the numbers. Throws std::invalid_argument where the
// inputs do not fit.
Truth evaluate(const SiteCall& call, const Recipe& recipe, Team& team);

// The largest |value - truth| / bound, and where. A NaN or an infinity that the truth has not is infinitely far.
struct Excess {
  double ratio = 0;
  Eigen::Index row = 0;
  Eigen::Index column = 0;
  std::vector<Eigen::Index> columns;  // those with a ratio above 1
  std::vector<Eigen::Index> rows;
  std::int64_t unbounded = 0;  // outputs whose bound is void: not judged
};
Excess excess_of(const RowMatrix& value, const Truth& truth);

}  // namespace assay
