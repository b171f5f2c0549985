// Which steps are to blame for the distance of the logits to a golden's: a smallest set whose replacement by the reference brings
// them back.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/engine.h"
#include "golden/trace.h"
#include "harness/reports/style.h"

namespace assay {

struct BisectRun {
  std::string what;     // "steps 0 .. 63 by the reference"
  double distance = 0;  // of the logits to the golden's, relative RMS, the largest over the prompts
  bool within = false;
};

struct BisectRequest {
  Engine* engine = nullptr;  // with room for all logits; kernels as the user chose them
  const TraceFile* golden = nullptr;
  std::vector<std::string> prompts;                         // empty: all
  std::optional<double> threshold;                          // by default twice the all-reference run's distance
  std::function<void(const BisectRun&)> progress;           // a run is done
  std::function<void(const std::string&)> within_run = {};  // how far it is, in words
};

struct Bisection {
  double all_reference = 0;
  double as_chosen = 0;
  double threshold = 0;
  double far = 0;                  // an all-reference distance above this is no rounding of the golden's recipe
  std::vector<std::string> sites;  // 1-minimal: put any of them back to its kernel, and the logits are off again
  std::int64_t runs = 0;
  bool reference_is_far() const { return all_reference > far; }
  bool nothing_to_find() const { return as_chosen <= threshold; }
};

// Leaves the engine's kernels as they were.
Bisection bisect(const BisectRequest& request);

std::string bisection_text(const Bisection& result, const Style& style);
nlohmann::ordered_json bisection_json(const Bisection& result);

}  // namespace assay
