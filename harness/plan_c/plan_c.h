// `assay plan MODEL --c DIR`: a plan as a folder of C11, its weights packed beside it, that builds against the installed package.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/model_file.h"
#include "engine/plan/plan.h"
#include "engine/run/load_weights.h"

namespace assay {

struct PlanCRequest {
  std::filesystem::path model;
  std::filesystem::path folder;  // where it goes: new, or empty
  PlanOptions options;
  std::optional<std::pair<std::int64_t, std::int64_t>> layers;  // these alone: first, last
  std::filesystem::path input;                                  // a trace whose rows become the layers' input; or empty
  std::string prompt;                                           // of the trace; empty: its first
  bool openmp = false;                                          // threads share the steps
  int threads = 1;                                              // that pack the weights
  LoadProgress progress = {};
};

// Writes it whole or not at all; returns the files. Throws what ModelFile and make_plan throw, and std::invalid_argument for a folder that
// is not empty, a cache that is not contiguous, a chunk or context too small to be written out, layers that the model has not, and rows
// that the trace has not.
std::vector<std::filesystem::path> write_plan_c(const PlanCRequest& request);

}  // namespace assay
