// A model that runs: its weights, its memory, one sequence of tokens, and the passes over its plan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/kv/cache.h"
#include "engine/kv/mapping.h"
#include "engine/model/model_file.h"
#include "engine/plan/plan.h"
#include "engine/run/alone_when_crowded.h"
#include "engine/run/load_weights.h"
#include "engine/run/observer.h"
#include "engine/run/step_calls.h"
#include "engine/run/step_clock.h"
#include "engine/run/stored_rows.h"
#include "engine/threads.h"

namespace assay {

struct EngineOptions {
  PlanOptions plan;
  int threads = 1;
};

// A step that refused its input (a NaN where an op takes none). Names the site, the op, the tokens.
struct EngineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Whose logits a feed computes: of no token, of the last, or of all (PlanOptions::all_logits).
enum class Logits : std::uint8_t { none, last, all };

// One sequence; not for several threads at once. After the constructor nothing is allocated but by a KV policy that grows, in
// KvCache::reserve between passes, by the reference backend, and for an observer.
class Engine {
 public:
  // `model` must outlive the object. Throws what make_plan throws, ModelFileError where a tied model's second copy of the head
  // differs from the embedding, KvExhausted where memory runs out, and std::system_error where
  // there is no thread to be had.
  Engine(const ModelFile& model, const EngineOptions& options, const LoadProgress& progress = {});
  // With a plan that the caller made of this model, or changed.
  Engine(const ModelFile& model, Plan plan, int threads, const LoadProgress& progress = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Plan& plan() const { return plan_; }
  int threads() const { return team_.size(); }
  // Its threads, for an observer: they have nothing to do while it looks.
  Team& team() { return team_; }
  const KvCache& cache() const { return *cache_; }

  // Tokens so far.
  std::int64_t length() const { return cache_->length(sequence_); }
  // The sequence is empty again.
  void reset();
  // As reset; and what earlier runs left in the arenas and in the cache's rows is zero, as in a new engine. A step that leaves
  // something unwritten then does not find there what another run had right.
  void clear();

  // The next tokens, in passes of at most plan().options.chunk; a pass of one token runs the decode set. Throws
  // std::out_of_range for a token outside the vocabulary, KvExhausted where the context ends (nothing has changed then), and
  // EngineError or what an observer throws (then the sequence is to be reset).
  void feed(std::span<const std::int32_t> tokens, Logits wanted = Logits::last, Observer* observer = nullptr);

  // [rows, vocab] of the last pass: the last token's, or each token's. Valid until the next feed.
  std::span<const float> logits() const { return logits_; }

  // For one step: another backend, or the best variant within another limit.
  void choose(std::size_t step, Backend backend, IsaLimit limit) { calls_->choose(step, backend, limit); }
  void choose_all(Backend backend, IsaLimit limit);
  StepCalls& calls() { return *calls_; }
  const StepCalls& calls() const { return *calls_; }
  // Keys and values that a layer has of these tokens, read into `buffer` (stored_rows.h).
  RowsView stored(std::int64_t layer, TokenRange tokens, std::vector<std::uint8_t>& buffer) {
    return stored_rows(*cache_, sequence_, layer, tokens, buffer);
  }
  // From now on each pass's time by steps goes to `clock`, which was made for this plan and as many threads; null: to nobody.
  void time_steps(StepClock* clock) { clock_ = clock; }
  // Passes end with this step; nothing: with the last.
  void stop_after(std::optional<std::size_t> step) { end_ = step ? *step + 1 : plan_.steps.size(); }

  // What is mapped for the plan's regions.
  struct Mapped {
    std::int64_t weights;
    std::int64_t decode;
    std::int64_t prefill;
  };
  Mapped mapped() const { return {weights_.bytes(), decode_.bytes(), prefill_.bytes()}; }

 private:
  void run_pass(std::span<const std::int32_t> tokens, Logits wanted, Observer* observer);
  void run_steps(const Pass& pass, Observer* observer);

  Team team_;
  Plan plan_;
  Mapping weights_;
  Mapping decode_;
  Mapping prefill_;
  std::unique_ptr<KvCache> cache_;
  KvCache::Sequence sequence_;
  std::unique_ptr<StepCalls> calls_;
  std::vector<std::uint8_t> observed_;  // by step, of the pass under way
  std::size_t end_;
  StepClock* clock_ = nullptr;
  AloneWhenCrowded crowded_;
  std::span<const float> logits_;
};

}  // namespace assay
