// Variants of the engine's ops by the op's name.
#pragma once

#include <string_view>

#include "engine/run/chosen.h"

namespace assay {

// The best variant not above `limit` that this CPU runs. Throws std::logic_error for an op that no step uses.
Chosen choose_op(std::string_view op, Isa limit);

}  // namespace assay
