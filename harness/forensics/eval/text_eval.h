// How well a model foretells a text, and how its logits over it differ from another model's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/run/engine.h"
#include "harness/forensics/logits.h"

namespace assay {

// Tokens first .. end - 1 are read from an empty cache; of them those from `scored` on are scored, each by the logits of the
// token before it.
struct TextWindow {
  std::int64_t first = 0;
  std::int64_t scored = 0;
  std::int64_t end = 0;
};

// Every token but the first is scored once. The first window holds the first `context` tokens; each later one begins context / 2
// tokens after the one before and scores what none has scored yet, so with context / 2 tokens or more behind each.
// std::invalid_argument for fewer than two tokens or positions.
std::vector<TextWindow> cut_windows(std::int64_t tokens, std::int64_t context);

// Mean negative log-likelihood of the tokens scored, in nats.
class TokenLikelihood {
 public:
  void add(double negative_log_likelihood);
  std::int64_t tokens() const { return tokens_; }
  double mean() const { return sum_ / static_cast<double>(tokens_); }
  double standard_error() const;  // of the mean, as if tokens were independent
  double perplexity() const;      // exp of the mean

 private:
  std::int64_t tokens_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

struct TextEvaluation {
  std::int64_t tokens = 0;
  std::int64_t context = 0;
  std::int64_t windows = 0;
  TokenLikelihood ours;
  struct Other {
    TokenLikelihood likelihood;
    LogitsComparison logits;  // at the tokens' places in the text: the row that scores token i + 1 stands at i
  };
  std::optional<Other> other;
};

// Tokens scored so far, of how many.
using TextProgress = std::function<void(std::int64_t done, std::int64_t all)>;

// Both plans with all_logits, of equal vocabularies and contexts; `other` may be null. Resets the engines. Throws what
// Engine::feed throws and std::invalid_argument where the models do not fit together.
TextEvaluation evaluate_text(Engine& engine, Engine* other, std::span<const std::int32_t> tokens,
                             const TextProgress& progress = {});

}  // namespace assay
