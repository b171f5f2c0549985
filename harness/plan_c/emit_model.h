// A plan as the text of model.c.
#pragma once

#include <string>

#include "harness/plan_c/recorded_calls.h"

namespace assay {

// What model.c says that is not the plan's.
struct CModel {
  std::string name;
  std::string weights_type;  // "Q4_K_M"
  std::string sha256 = {};   // of the model's file
  std::string rope = {};     // the recipe's name
  std::string weights_sha256 = {};
  std::string input_site = {};   // of a part of a model; empty: token ids
  std::string output_site = {};  // of a part; empty: logits
  bool openmp = false;           // threads share the steps
};

// Throws std::invalid_argument for a plan that cannot be written out.
std::string emit_model(const Plan& plan, const CLayout& layout, const CModel& model);

}  // namespace assay
