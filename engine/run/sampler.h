// The next token from a row of logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/op_tables.h"

namespace assay {

// In this order, as Hugging Face's generate() has it: logits / temperature; the top_k largest; of these the fewest whose
// probabilities sum to top_p; of these all that are at least min_p times the likeliest. What is left is drawn from in proportion.
struct Sampling {
  float temperature = 0;   // 0: the first of the largest logits, and nothing else counts
  std::int64_t top_k = 0;  // 0: all
  double top_p = 1;
  double min_p = 0;
  std::uint64_t seed = 0;
};

// Allocates in its constructor alone. The same logits, sampling and index give the same token, on every machine.
class Sampler {
 public:
  // Throws std::invalid_argument for a temperature below 0, a top_p outside (0, 1] or a min_p outside [0, 1].
  Sampler(std::int64_t vocab, const Sampling& sampling);

  // `index`: of the token in the generated text, which picks the random number. Throws EngineError where a logit is NaN.
  std::int32_t sample(std::span<const float> logits, std::uint64_t index);

 private:
  struct Candidate {
    float logit;
    std::int32_t token;
  };

  std::int32_t greedy(std::span<const float> logits) const;
  void keep_candidates(std::span<const float> logits);
  std::size_t kept_by_probability() const;

  Sampling sampling_;
  const AnyKernel* argmax_;
  const AnyKernel* softmax_;
  std::vector<Candidate> candidates_;
  std::vector<float> scaled_;
  std::vector<float> probabilities_;  // of the candidates, falling
};

}  // namespace assay
