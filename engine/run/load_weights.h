// From the mapped file into the weights' region: matrices packed for their kernels, norms widened to f32.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/plan/plan.h"
#include "engine/threads.h"

namespace assay {

// Called by the loading thread now and then: bytes of the region that are filled, of how many.
using LoadProgress = std::function<void(std::int64_t done, std::int64_t total)>;

// `region` has plan.weight_bytes bytes. Every byte that a kernel may read is written; the bits do not depend on the team.
void load_weights(const Plan& plan, std::uint8_t* region, Team& team, const LoadProgress& progress);

// Throws ModelFileError where a tied model's second copy of the head differs from the embedding.
void check_surplus_head(const WeightMap& weights);

}  // namespace assay
