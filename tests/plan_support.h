// Plans of models that are no more than a configuration and a type for each matrix: nothing is on disk.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace assay {

// A weight's type by role and layer.
using TypeOf = std::function<DType(Role role, std::int64_t layer)>;

// Qwen3's shape in small: 3 layers, hidden 512, 4 heads on 2 of 128, ffn 768, vocabulary 1000, tied.
ModelConfig small_config();

// Tensors without bytes, and the weights that they make.
class PaperModel {
 public:
  PaperModel(const ModelConfig& config, const TypeOf& type_of);
  Plan plan(const PlanOptions& options = {}) const { return make_plan(config_, *weights_, options); }
  const WeightMap& weights() const { return *weights_; }

 private:
  ModelConfig config_;
  std::unique_ptr<WeightMap> weights_;
};

// Matrices all of one type; norms f32.
TypeOf all_of(DType matrices);
// By role, for every layer; the others f16. Three types at the norms' readers, q8_0 and q4_k among them.
TypeOf motley();

struct NamedPlan {
  std::string name;
  std::unique_ptr<PaperModel> model;
  Plan plan;
};
// Of every way of storing weights that changes a plan's steps, tied and not, with few rows and many, with and without the logits
// of all rows.
std::vector<NamedPlan> plans_of_all_kinds();

}  // namespace assay
