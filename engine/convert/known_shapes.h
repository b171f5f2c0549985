// The shapes of the published dense Qwen3 models.
#pragma once

#include <string_view>
#include <vector>

#include "engine/model/config.h"

namespace assay {

// "qwen3-0.6b" and so on.
std::vector<std::string_view> known_shapes();

// Throws std::invalid_argument that lists the names.
ModelConfig known_shape(std::string_view name);

}  // namespace assay
