// A GGUF file of a published model's shape with random weights: for speed and memory work without a download.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engine/convert/quantize.h"
#include "engine/model/config.h"

namespace assay {

struct SynthRequest {
  ModelConfig config;  // known_shape(), or changed; `vocab` within the limits of synth_tokenizer()
  const Target* target = nullptr;
  std::filesystem::path out;
  std::uint64_t seed = 1;
  int threads = 1;
  ConvertProgress progress;  // may be empty
};

// Writes `out`, whole or not at all; order and metadata are those of quantize(). A matrix's weights have standard deviation
// 1 / sqrt(cols), so a projection of a normalised vector has values about 1 in size; the norms' lie about 1. The bytes depend on
// config, target and seed alone. Throws as quantize().
std::vector<ListedTensor> synthesize(const SynthRequest& request);

}  // namespace assay
