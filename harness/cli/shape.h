// Reading what the user typed.
#pragma once

#include <optional>
#include <string>

#include "golden/params.h"
#include "kernels/isa.h"

namespace assay::cli {

// "k=1000,n=77,eps=1e-6,recipe=hf": integers, numbers and words. Throws std::invalid_argument.
Params parse_shape(const std::string& text);

// Throws std::invalid_argument for an unknown name, naming the nearest.
Isa known_isa(const std::string& name);

// Throws std::invalid_argument for an unknown or unsupported name, naming the nearest or those that run here.
Isa require_isa(const std::string& name);

}  // namespace assay::cli
