// What the engine knows of an architecture: how files name it, and the steps of its plan. One file and one line in
// architecture.cc each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/plan/plan_builder.h"

namespace assay {

struct PlannedArchitecture {
  std::string_view name;      // GGUF's general.architecture, the prefix of its keys, and config.json's model_type
  std::string_view hf_class;  // config.json's architectures
  void (*build)(PlanBuilder& builder);
};
extern const PlannedArchitecture kPlannedQwen3;

std::span<const PlannedArchitecture* const> planned_architectures();
// nullptr if the engine does not compute it.
const PlannedArchitecture* find_architecture(std::string_view name);
// "'qwen3'", for messages.
std::string architecture_names();

}  // namespace assay
