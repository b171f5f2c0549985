#include "engine/run/sampler.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "engine/run/engine.h"
#include "golden/philox.h"

namespace assay {
namespace {

constexpr std::uint32_t kStream = 0x73616d70;  // of the generator: its own, apart from those of generated inputs

// In [0, 1), a multiple of 2^-53.
double uniform(std::uint64_t seed, std::uint64_t index) {
  const PhiloxBlock block = philox_block(seed, kStream, index);
  const std::uint64_t bits = (std::uint64_t{block[0]} << 32 | block[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace

Sampler::Sampler(std::int64_t vocab, const Sampling& sampling)
    : sampling_(sampling), argmax_(&select_kernel(kernel_tables::argmax)), softmax_(&select_kernel(kernel_tables::softmax)) {
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
    throw std::invalid_argument("a temperature is 0 or above");
  if (sampling.top_k < 0) throw std::invalid_argument("top-k is 0, for all, or above");
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) throw std::invalid_argument("top-p lies in (0, 1]");
  if (!(sampling.min_p >= 0 && sampling.min_p <= 1)) throw std::invalid_argument("min-p lies in [0, 1]");
  const auto size = static_cast<std::size_t>(vocab);
  candidates_.reserve(size);
  scaled_.resize(size);
  probabilities_.resize(size);
}

std::int32_t Sampler::greedy(std::span<const float> logits) const {
  std::int32_t token = 0;
  const ArgmaxArgs args{logits.data(), &token, std::ssize(logits)};
  if (argmax_->run(&args) != ASSAY_OK) throw EngineError("sampling: a logit is NaN");
  return token;
}

// The top_k, falling; of equal logits the lower token first.
void Sampler::keep_candidates(std::span<const float> logits) {
  candidates_.clear();
  for (std::size_t token = 0; token < logits.size(); ++token)
    candidates_.push_back({logits[token], static_cast<std::int32_t>(token)});
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  const auto k = static_cast<std::size_t>(sampling_.top_k);
  if (k > 0 && k < candidates_.size()) {
    std::nth_element(candidates_.begin(), candidates_.begin() + sampling_.top_k, candidates_.end(), before);
    candidates_.erase(candidates_.begin() + sampling_.top_k, candidates_.end());
  }
  std::sort(candidates_.begin(), candidates_.end(), before);
}

std::size_t Sampler::kept_by_probability() const {
  std::size_t kept = 0;
  double sum = 0;
  while (kept < candidates_.size() && (kept == 0 || sum < sampling_.top_p)) sum += static_cast<double>(probabilities_[kept++]);
  const double least = sampling_.min_p * static_cast<double>(probabilities_[0]);
  while (kept > 1 && static_cast<double>(probabilities_[kept - 1]) < least) --kept;
  return kept;
}

std::int32_t Sampler::sample(std::span<const float> logits, std::uint64_t index) {
  const std::int32_t best = greedy(logits);
  if (sampling_.temperature == 0) return best;
  keep_candidates(logits);
  const auto count = std::ssize(candidates_);
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    scaled_[i] = (candidates_[i].logit - candidates_[0].logit) / sampling_.temperature;
  const SoftmaxArgs args{scaled_.data(), probabilities_.data(), 1, count, count, count};
  softmax_->run(&args);
  const std::size_t kept = kept_by_probability();
  double total = 0;
  for (std::size_t i = 0; i < kept; ++i) total += static_cast<double>(probabilities_[i]);
  double left = uniform(sampling_.seed, index) * total;
  std::size_t drawn = 0;
  while (drawn + 1 < kept && left >= static_cast<double>(probabilities_[drawn]))
    left -= static_cast<double>(probabilities_[drawn++]);
  return candidates_[drawn].token;
}

}  // namespace assay
