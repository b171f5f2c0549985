#include "harness/forensics/eval/text_eval.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

// The logits of up to `chunk` tokens at a time: as many as a pass gives.
class Scorer {
 public:
  Scorer(Engine& engine, Engine* other, std::span<const std::int32_t> tokens, TextEvaluation& out)
      : engine_(engine), other_(other), tokens_(tokens), out_(out) {}

  void window(const TextWindow& window, const TextProgress& progress) {
    reset();
    feed(window.first, window.scored - 1, Logits::none);
    const std::int64_t last = window.end - 1;  // whose logits score nothing here
    for (std::int64_t at = window.scored - 1; at < last;) {
      const std::int64_t end = std::min(last, at + chunk());
      feed(at, end, Logits::all);
      for (std::int64_t i = at; i < end; ++i) score(i, i - at);
      at = end;
      if (progress) progress(out_.ours.tokens(), std::ssize(tokens_) - 1);
    }
  }

 private:
  void reset() {
    engine_.reset();
    if (other_ != nullptr) other_->reset();
  }

  std::int64_t chunk() const {
    const std::int64_t ours = engine_.plan().options.chunk;
    return other_ == nullptr ? ours : std::min(ours, other_->plan().options.chunk);
  }

  void feed(std::int64_t begin, std::int64_t end, Logits wanted) {
    const auto part = tokens_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    engine_.feed(part, wanted);
    if (other_ != nullptr) other_->feed(part, wanted);
  }

  std::span<const float> row(const Engine& engine, std::int64_t index) const {
    const auto vocab = static_cast<std::size_t>(engine.plan().config.vocab);
    return engine.logits().subspan(static_cast<std::size_t>(index) * vocab, vocab);
  }

  void score(std::int64_t position, std::int64_t index) {
    const std::int32_t next = tokens_[static_cast<std::size_t>(position) + 1];
    out_.ours.add(negative_log_likelihood(row(engine_, index), next));
    if (other_ == nullptr) return;
    out_.other->likelihood.add(negative_log_likelihood(row(*other_, index), next));
    out_.other->logits.add(position, compare_rows(row(engine_, index), row(*other_, index)));
  }

  Engine& engine_;
  Engine* other_;
  std::span<const std::int32_t> tokens_;
  TextEvaluation& out_;
};

void check_pair(const Plan& ours, const Plan& other) {
  if (ours.config.vocab != other.config.vocab) {
    throw std::invalid_argument("vocabularies of " + std::to_string(ours.config.vocab) + " and " +
                                std::to_string(other.config.vocab) + " tokens: logits cannot be compared");
  }
  if (ours.options.context != other.options.context) {
    throw std::invalid_argument("contexts of " + std::to_string(ours.options.context) + " and " +
                                std::to_string(other.options.context) + " positions: give one with --context");
  }
}

}  // namespace

std::vector<TextWindow> cut_windows(std::int64_t tokens, std::int64_t context) {
  if (tokens < 2) throw std::invalid_argument("a text of " + std::to_string(tokens) + " tokens; two at least can be scored");
  if (context < 2) throw std::invalid_argument("a context of " + std::to_string(context) + " positions; at least 2");
  std::vector<TextWindow> windows{{0, 1, std::min(tokens, context)}};
  while (windows.back().end < tokens) {
    const TextWindow& before = windows.back();
    const std::int64_t first = before.first + context / 2;
    windows.push_back({first, before.end, std::min(tokens, first + context)});
  }
  return windows;
}

void TokenLikelihood::add(double negative_log_likelihood) {
  ++tokens_;
  sum_ += negative_log_likelihood;
  squares_ += negative_log_likelihood * negative_log_likelihood;
}

double TokenLikelihood::standard_error() const {
  if (tokens_ < 2) return 0;
  const auto n = static_cast<double>(tokens_);
  return std::sqrt(std::max(squares_ / n - mean() * mean(), 0.0) / (n - 1));
}

double TokenLikelihood::perplexity() const {
  return std::exp(mean());
}

TextEvaluation evaluate_text(Engine& engine, Engine* other, std::span<const std::int32_t> tokens, const TextProgress& progress) {
  TextEvaluation out;
  if (other != nullptr) {
    check_pair(engine.plan(), other->plan());
    out.other.emplace();
  }
  const auto windows = cut_windows(std::ssize(tokens), engine.plan().options.context);
  out.tokens = std::ssize(tokens);
  out.context = engine.plan().options.context;
  out.windows = std::ssize(windows);
  Scorer scorer(engine, other, tokens, out);
  for (const TextWindow& window : windows) scorer.window(window, progress);
  return out;
}

}  // namespace assay
