// What a run of the engine spent its time on, by kinds of steps, beside what this machine could do at most.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/run/engine.h"
#include "harness/forensics/profile/machine_roofs.h"
#include "harness/reports/style.h"

namespace assay::profile {

// Steps of one kind, such as every layer's q_proj that runs the same kernel.
struct Line {
  std::string site;    // without the layer: "q_proj"
  std::string kernel;  // the variant's name
  std::int64_t calls = 0;
  double seconds = 0;     // the mean of the threads
  double bytes = 0;       // that have to be moved: weights, keys and values, rows read and written
  double operations = 0;  // multiplies and adds of products; 0 for steps that have none
  bool of_codes = false;  // products of bytes, not of f32
};

// Passes of one kind.
struct Part {
  std::string name;  // decode, prefill
  std::int64_t passes = 0;
  std::int64_t rows = 0;
  double seconds = 0;       // in passes: lines and waiting
  double waiting = 0;       // at barriers, the mean of the threads
  std::vector<Line> lines;  // the longest first
};

struct Profile {
  int threads = 1;
  Roofs roofs;
  std::vector<Part> parts;  // those that had passes
};

Profile make_profile(const Engine& engine, const StepClock& clock, const Roofs& roofs);

std::string profile_text(const Profile& profile, const Style& style);
nlohmann::ordered_json profile_json(const Profile& profile);

}  // namespace assay::profile
