// A Plan: what the engine does with a run of tokens, as a flat list of steps, and where in memory everything lies.
//
// A step has a site ("layers.07.q_proj"), an op, operands and perhaps a weight. Operands are parts of slots; a slot is a buffer
// with one row a token. The same steps serve decode (one row) and prefill (up to `chunk` rows), each with slots of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kv/policies.h"
#include "engine/model/weights.h"
#include "engine/plan/weight_layout.h"
#include "kernels/rope/rope.h"

namespace assay {

enum class StepKind : std::uint8_t { rope_table, embed, rms_norm, quantize, linear, rope, kv_store, attention, add, swiglu };
std::string_view step_kind_name(StepKind kind) noexcept;

struct Slot {
  std::string name;
  DType dtype = DType::f32;
  std::int64_t width = 0;  // elements of a row: numbers, or blocks
  bool of_logits = false;  // has rows only for the tokens whose logits are asked for
};

// Columns column .. column + heads * width - 1 of a slot's rows: [row, heads, width], or [row, width] where heads is 0.
struct Operand {
  int slot = -1;
  std::int64_t column = 0;
  std::int64_t heads = 0;
  std::int64_t width = 0;
  std::int64_t columns() const { return (heads == 0 ? 1 : heads) * width; }
};

struct Step {
  std::string site;
  StepKind kind = StepKind::embed;
  std::int64_t layer = -1;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;  // none for kv_store, which writes the cache
  int weight = -1;               // into Plan::weights
  bool of_logits = false;        // only for the tokens whose logits are asked for, as the slot it writes
  const Op* decode = nullptr;    // gemv_q4_k_x16_q8_k
  const Op* prefill = nullptr;   // gemm_q4_k_x16_q8_k
};

// A weight as kernels have it. The embedding is looked up in the mapped file, where it lies; norms are f32.
struct PlannedWeight {
  const Weight* stored = nullptr;
  const WeightLayout* layout = nullptr;  // of a matrix that is multiplied with; else null
  bool in_file = false;
  std::int64_t offset = 0;  // in the weights' region
  std::int64_t bytes = 0;
};

inline constexpr std::string_view kRopeRecipes[] = {ASSAY_ROPE_RECIPES};  // by AssayRopeRecipe

struct PlanOptions {
  std::int64_t context = 0;  // positions; 0: the model's, at most kDefaultContext
  std::int64_t chunk = 512;  // most tokens of a prefill pass
  std::string kv_policy = "contiguous";
  KvType kv_type = KvType::f32;
  std::int64_t window = 0;  // positions that attention looks back at, its own included; 0: all
  bool all_logits = false;  // a prefill pass can give the logits of each of its tokens, not of the last alone
  // The last layer has rows for every token, as its observers want (and all_logits); else from its queries on only for the token
  // whose logits are asked for, since nothing reads the others. No bit of a row depends on it.
  bool whole_last_layer = false;
  AssayRopeRecipe rope = ASSAY_ROPE_F64;
};
inline constexpr std::int64_t kDefaultContext = 4096;

// A buffer in a region. `first` and `last`: the steps between which it is in use, the first time; a slot that each layer uses
// anew is in use again there.
struct PlacedBuffer {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::string first;
  std::string last;
};
struct Region {
  std::string name;  // weights, kv, decode, prefill; file: what stays in the mapped file
  std::int64_t bytes = 0;
  std::vector<PlacedBuffer> buffers;
};

// Where the slots of a set lie: `rows` rows each, slots of logits `logit_rows`.
struct SlotLayout {
  std::int64_t rows = 0;
  std::int64_t logit_rows = 0;
  std::int64_t bytes = 0;
  std::vector<std::int64_t> offsets;   // by slot
  std::vector<std::uint8_t> barriers;  // by step: it must not begin before every thread has ended the steps ahead of it
};

struct Plan {
  ModelConfig config;
  PlanOptions options;  // with the context filled in
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<PlannedWeight> weights;
  std::int64_t weight_bytes = 0;
  KvConfig kv;
  SlotLayout decode;
  SlotLayout prefill;
  int tokens_slot = -1;
  int positions_slot = -1;
  int logits_slot = -1;

  // Index of the site's step; nothing if there is none.
  std::optional<std::size_t> find(std::string_view site) const;
  // The listing: weights, kv, decode, prefill, and the file's part. Sizes of the first four are what is mapped.
  std::vector<Region> regions() const;
};

// `weights` must outlive the plan. Throws ModelFileError (tensor-type) for a matrix in a type that no kernel multiplies with, and
// std::invalid_argument or KvError for options out of range.
Plan make_plan(const ModelConfig& config, const WeightMap& weights, const PlanOptions& options);

}  // namespace assay
