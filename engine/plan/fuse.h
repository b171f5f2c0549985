// A plan whose chosen projections quantise their activations themselves.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace assay {

// Each of these sites, a projection by a block-quantised weight, becomes one step with the quantisation before it: op
// linear_<type>, f32 input, the weight read from the file where it lies. Quantisations that no step reads any more go, and memory is
// placed anew. Throws std::invalid_argument for a site that is no such projection.
void fuse_quantisation(Plan& plan, const std::vector<std::string>& sites);

}  // namespace assay
