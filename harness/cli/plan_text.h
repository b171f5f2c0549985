// A plan, for people and for programs.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/plan.h"
#include "harness/reports/style.h"

namespace assay::cli {

// What this machine has left for a program: MemAvailable of /proc/meminfo, or less where a control group allows less.
std::int64_t available_memory();

// The most that the plan's regions take, the file's part included: a cache that grows by copying is there twice meanwhile.
std::int64_t planned_bytes(const Plan& plan);

// Layers whose steps have the same ops are told once, unless `all`; so are buffers.
std::string plan_text(const Plan& plan, bool all, const Style& style);
// All of it, with what this machine has; and the plan alone.
nlohmann::ordered_json plan_json(const Plan& plan);
nlohmann::ordered_json steps_json(const Plan& plan);

}  // namespace assay::cli
