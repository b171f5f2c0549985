#include "harness/forensics/eval/trace_eval.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "engine/run/site_rows.h"
#include "engine/tokenizer/tokenizer.h"

namespace assay {
namespace {

[[noreturn]] void refuse(const TraceFile& trace, const std::string& prompt, const std::string& what) {
  throw std::invalid_argument(trace.path().string() + ": prompt " + prompt + ": " + what);
}

// What `sites` gave at the positions that the trace keeps. Tokens past the last of those are not read.
SiteRows run_prompt(Engine& engine, const TracePrompt& prompt) {
  SiteRows rows(prompt.positions,
                [&](const std::string& site) { return std::ranges::find(prompt.sites, site) != prompt.sites.end(); });
  const std::span<const std::int32_t> tokens(prompt.tokens);
  const auto first = static_cast<std::size_t>(prompt.positions.front());
  const auto last = static_cast<std::size_t>(prompt.positions.back());
  engine.reset();
  engine.feed(tokens.first(first), Logits::none);
  engine.feed(tokens.subspan(first, last + 1 - first), Logits::all, &rows);
  return rows;
}

void compare_logits(const Array& ours, const Array& theirs, const TracePrompt& prompt, PromptEvaluation& out) {
  const std::vector<double> values = theirs.numbers();
  const auto vocab = static_cast<std::size_t>(ours.shape.back());
  double squares = 0;
  for (std::size_t row = 0; row < prompt.positions.size(); ++row) {
    const RowComparison one = compare_rows(std::span(ours.as<float>() + row * vocab, vocab),
                                           std::span<const double>(values).subspan(row * vocab, vocab));
    out.logits.add(prompt.positions[row], one);
    squares += one.rms * one.rms;
  }
  out.logits_rms = std::sqrt(squares / static_cast<double>(prompt.positions.size()));
}

// Prompts of two traces are the same run if tokens and rows are.
void check_same_run(const TraceFile& trace, const TracePrompt& prompt, const TraceFile& beside) {
  const TracePrompt other = beside.prompt(prompt.name);
  if (other.tokens != prompt.tokens) refuse(beside, prompt.name, "other tokens than in " + trace.path().string());
  if (other.positions != prompt.positions) refuse(beside, prompt.name, "other rows kept than in " + trace.path().string());
}

SiteRms site_rms(const TraceFile& trace, const TracePrompt& prompt, const std::string& site, const Array& truth,
                 const Array& ours, const TraceFile* beside) {
  if (truth.elements() != ours.elements()) {
    refuse(trace, prompt.name,
           site + " has " + std::to_string(truth.elements()) + " values; the model gives " + std::to_string(ours.elements()));
  }
  SiteRms error{prompt.name, site, rms(truth), rms_difference(ours, truth), {}};
  if (beside == nullptr) return error;
  const Array other = beside->site(prompt, site);
  if (other.elements() != truth.elements()) {
    refuse(*beside, prompt.name, site + " has another shape than in " + trace.path().string());
  }
  error.other = rms_difference(other, truth);
  return error;
}

}  // namespace

bool PromptEvaluation::greedy_is_tie() const {
  return greedy && !greedy->all_equal() && greedy->our_gap + greedy->their_gap <= 2 * std::numbers::sqrt2 * logits_rms;
}

std::int64_t positions_needed(const TraceFile& trace) {
  std::size_t most = 0;
  for (const std::string& name : trace.prompts()) {
    const TracePrompt prompt = trace.prompt(name);
    most = std::max(most, prompt.tokens.size() + (prompt.greedy ? prompt.greedy->tokens.size() : 0));
  }
  return static_cast<std::int64_t>(most);
}

PromptEvaluation evaluate_prompt(Engine& engine, const TraceFile& trace, const std::string& name, const TraceFile* beside,
                                 const Tokenizer* tokenizer) {
  const TracePrompt prompt = trace.prompt(name);
  if (beside != nullptr) check_same_run(trace, prompt, *beside);
  PromptEvaluation out;
  out.name = name;
  out.tokens = prompt.tokens.size();
  out.rows = prompt.positions.size();
  if (tokenizer != nullptr && !prompt.text.empty()) out.same_tokens = tokenizer->encode(prompt.text) == prompt.tokens;
  const SiteRows rows = run_prompt(engine, prompt);
  for (const std::string& site : prompt.sites) {
    const Array theirs = trace.site(prompt, site);
    if (is_block(theirs.dtype) || !engine.plan().find(site)) {
      out.apart.push_back(site);
      continue;
    }
    out.sites.push_back(site_rms(trace, prompt, site, theirs, rows.at(site), beside));
    if (site == kLogitsSite) compare_logits(rows.at(site), theirs, prompt, out);
  }
  if (out.sites.empty()) refuse(trace, name, "no site that the model has: nothing to compare");
  if (prompt.greedy) out.greedy = compare_greedy(engine, prompt);
  return out;
}

GreedyComparison compare_greedy(Engine& engine, const TracePrompt& prompt) {
  const GreedyText& theirs = prompt.greedy.value();
  GreedyComparison out;
  out.tokens = theirs.tokens.size();
  const std::int64_t vocab = engine.plan().config.vocab;
  for (const std::int32_t token : theirs.tokens) {
    if (token >= 0 && token < vocab) continue;
    throw std::invalid_argument("prompt " + prompt.name + ": greedy token " + std::to_string(token) +
                                "; the vocabulary has 0 .. " + std::to_string(vocab - 1));
  }
  engine.reset();
  engine.feed(prompt.tokens);
  for (; out.equal < out.tokens; ++out.equal) {
    const std::span<const float> logits = engine.logits();
    const auto ours = static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
    const std::int32_t expected = theirs.tokens[out.equal];
    if (ours != expected) {
      out.ours = ours;
      out.theirs = expected;
      out.our_gap = static_cast<double>(logits[static_cast<std::size_t>(ours)]) - logits[static_cast<std::size_t>(expected)];
      out.their_gap = theirs.gap[out.equal];
      break;
    }
    if (out.equal + 1 < out.tokens) engine.feed({&expected, 1});
  }
  return out;
}

}  // namespace assay
