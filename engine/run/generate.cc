#include "engine/run/generate.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_cancelled(const GenerateRequest& request) {
  return request.cancelled != nullptr && *request.cancelled;
}

// Pass by pass, so that a long prompt can be cancelled. False if it was.
bool prefill(Engine& engine, const GenerateRequest& request, Generated& out) {
  const auto chunk = static_cast<std::size_t>(engine.plan().options.chunk);
  for (std::size_t first = 0; first < request.prompt.size(); first += chunk) {
    if (is_cancelled(request)) return false;
    const std::size_t count = std::min(chunk, request.prompt.size() - first);
    const bool last = first + count == request.prompt.size();
    engine.feed(request.prompt.subspan(first, count), last ? Logits::last : Logits::none, request.observer);
    out.prompt_tokens += static_cast<std::int64_t>(count);
  }
  return true;
}

Ended decode(Engine& engine, const GenerateRequest& request, Sampler& sampler, const std::function<void(std::int32_t)>& token,
             Generated& out) {
  while (std::ssize(out.tokens) < request.tokens) {
    if (is_cancelled(request)) return Ended::cancelled;
    const std::int32_t next = sampler.sample(engine.logits(), out.tokens.size());
    if (std::ranges::find(request.stops, next) != request.stops.end()) return Ended::stop_token;
    out.tokens.push_back(next);
    if (token) token(next);
    if (std::ssize(out.tokens) == request.tokens) return Ended::tokens;
    if (engine.length() == engine.plan().options.context) return Ended::context;
    engine.feed({&next, 1}, Logits::last, request.observer);
    ++out.decoded;
  }
  return Ended::tokens;
}

}  // namespace

const char* ended_name(Ended ended) noexcept {
  constexpr const char* kNames[] = {"stop token", "number of tokens", "end of the context", "cancelled"};
  return kNames[static_cast<std::size_t>(ended)];
}

Generated generate(Engine& engine, const GenerateRequest& request, const std::function<void(std::int32_t)>& token) {
  if (request.prompt.empty()) throw std::invalid_argument("an empty prompt: at least one token is needed");
  const std::int64_t room = engine.plan().options.context - engine.length();
  if (std::ssize(request.prompt) > room) {
    throw std::invalid_argument("the prompt has " + std::to_string(request.prompt.size()) + " tokens, the context has room for " +
                                std::to_string(room));
  }
  Sampler sampler(engine.plan().config.vocab, request.sampling);
  Generated out;
  out.tokens.reserve(static_cast<std::size_t>(std::min(request.tokens, room)));
  Clock::time_point start = Clock::now();
  const bool whole = prefill(engine, request, out);
  out.prefill_seconds = seconds_since(start);
  start = Clock::now();
  out.ended = whole ? decode(engine, request, sampler, token, out) : Ended::cancelled;
  out.decode_seconds = seconds_since(start);
  return out;
}

}  // namespace assay
