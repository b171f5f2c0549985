// From a prompt to a continuation, token by token.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/run/engine.h"
#include "engine/run/sampler.h"

namespace assay {

enum class Ended : std::uint8_t { stop_token, tokens, context, cancelled };
const char* ended_name(Ended ended) noexcept;

struct GenerateRequest {
  std::span<const std::int32_t> prompt;  // at least one token; fed after what the engine holds
  std::int64_t tokens = 0;               // most to generate
  std::vector<std::int32_t> stops;       // end the text, and do not belong to it
  Sampling sampling;
  Observer* observer = nullptr;
  const std::atomic<bool>* cancelled = nullptr;  // looked at between passes; may be null
};

struct Generated {
  std::vector<std::int32_t> tokens;
  Ended ended = Ended::tokens;
  std::int64_t prompt_tokens = 0;  // that were fed; fewer than the prompt's where it was cancelled
  std::int64_t decoded = 0;        // passes of one token
  double prefill_seconds = 0;
  double decode_seconds = 0;
};

// `token` is called for each token of the text as soon as it is known. The last token of a text that ends by number is not fed.
// Throws as Engine::feed; std::invalid_argument for an empty prompt.
Generated generate(Engine& engine, const GenerateRequest& request, const std::function<void(std::int32_t)>& token = {});

}  // namespace assay
