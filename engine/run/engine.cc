#include "engine/run/engine.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "engine/run/pass_run.h"
#include "kernels/isa.h"

namespace assay {

Engine::Engine(const ModelFile& model, const EngineOptions& options, const LoadProgress& progress)
    : Engine(model, make_plan(model.config(), model.weights(), options.plan), options.threads, progress) {}

Engine::Engine(const ModelFile& model, Plan plan, int threads, const LoadProgress& progress)
    : team_(threads),
      plan_(std::move(plan)),
      weights_(Mapping::memory(plan_.weight_bytes)),
      decode_(Mapping::memory(plan_.decode.bytes)),
      prefill_(Mapping::memory(plan_.prefill.bytes)),
      cache_(make_kv_cache(plan_.options.kv_policy, plan_.kv)),
      sequence_(cache_->open()),
      observed_(plan_.steps.size()),
      end_(plan_.steps.size()) {
  check_surplus_head(model.weights());
  weights_.huge_pages();
  auto* const weights = reinterpret_cast<std::uint8_t*>(weights_.begin());
  load_weights(plan_, weights, team_, progress);
  calls_ = std::make_unique<StepCalls>(plan_, weights, *cache_, sequence_, team_.size());
}

void Engine::reset() {
  cache_->reset(sequence_);
  logits_ = {};
}

void Engine::clear() {
  cache_->close(sequence_);
  cache_->trim();
  sequence_ = cache_->open();  // the same one, the lowest free
  for (const Mapping* const arena : {&decode_, &prefill_}) {
    if (*arena) std::memset(arena->begin(), 0, static_cast<std::size_t>(arena->bytes()));
  }
  logits_ = {};
}

void Engine::choose_all(Backend backend, IsaLimit limit) {
  for (std::size_t step = 0; step < plan_.steps.size(); ++step) calls_->choose(step, backend, limit);
}

void Engine::feed(std::span<const std::int32_t> tokens, Logits wanted, Observer* observer) {
  if (wanted == Logits::all && !plan_.options.all_logits)
    throw std::logic_error("the plan has no room for the logits of all tokens");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < plan_.config.vocab) continue;
    throw std::out_of_range("token " + std::to_string(i) + " is " + std::to_string(tokens[i]) + "; the vocabulary has 0 .. " +
                            std::to_string(plan_.config.vocab - 1));
  }
  cache_->reserve(sequence_, length() + std::ssize(tokens));
  const auto chunk = static_cast<std::size_t>(plan_.options.chunk);
  for (std::size_t first = 0; first < tokens.size(); first += chunk) {
    const std::size_t count = std::min(chunk, tokens.size() - first);
    const bool last = first + count == tokens.size();
    const Logits now = wanted == Logits::last && !last ? Logits::none : wanted;
    run_pass(tokens.subspan(first, count), now, observer);
  }
}

void Engine::run_pass(std::span<const std::int32_t> tokens, Logits wanted, Observer* observer) {
  const bool decode = tokens.size() == 1;
  const auto rows = std::ssize(tokens);
  const Pass pass{decode ? &plan_.decode : &plan_.prefill, reinterpret_cast<std::uint8_t*>((decode ? decode_ : prefill_).begin()),
                  length(), rows,
                  wanted == Logits::none   ? 0
                  : wanted == Logits::last ? 1
                                           : rows};
  cache_->append(sequence_, rows);
  auto* const ids =
      reinterpret_cast<std::int32_t*>(pass.arena + pass.layout->offsets[static_cast<std::size_t>(plan_.tokens_slot)]);
  auto* const positions =
      reinterpret_cast<std::int32_t*>(pass.arena + pass.layout->offsets[static_cast<std::size_t>(plan_.positions_slot)]);
  for (std::int64_t row = 0; row < rows; ++row) {
    ids[row] = tokens[static_cast<std::size_t>(row)];
    positions[row] = static_cast<std::int32_t>(pass.position + row);
  }
  run_steps(pass, observer);
  const auto* const logits =
      reinterpret_cast<const float*>(pass.arena + pass.layout->offsets[static_cast<std::size_t>(plan_.logits_slot)]);
  logits_ = {logits, static_cast<std::size_t>(pass.logit_rows * plan_.config.vocab)};
}

void Engine::run_steps(const Pass& pass, Observer* observer) {
  PassRun run(plan_, *calls_, pass, end_, observer, observed_, *cache_, sequence_, clock_);
  if (pass.rows > 1 || observer != nullptr || clock_ != nullptr || team_.size() == 1) return run.run(team_, false);
  const auto slept = team_.slept();
  const auto began = std::chrono::steady_clock::now();
  run.run(team_, crowded_.alone());
  const auto took = std::chrono::steady_clock::now() - began;
  crowded_.took(took, better_alone(team_.size(), team_.slept() - slept, took));
}

}  // namespace assay
