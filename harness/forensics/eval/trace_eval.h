// A model against a trace (golden/trace.h): sites, logits and greedy text of each of its prompts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/engine.h"
#include "golden/trace.h"
#include "harness/forensics/eval/site_rms.h"
#include "harness/forensics/logits.h"

namespace assay {

class Tokenizer;

// A continuation at temperature 0 that stops at no token, against the trace's.
struct GreedyComparison {
  std::size_t tokens = 0;  // that the trace has
  std::size_t equal = 0;   // ahead of the first that differs
  // Of the first that differs. A gap: how far each one's own token lies above the other's, in its own logits; the trace holds
  // that to its second, which need not be ours.
  std::int32_t ours = -1;
  std::int32_t theirs = -1;
  double our_gap = 0;
  double their_gap = 0;

  bool all_equal() const { return equal == tokens; }
};

struct PromptEvaluation {
  std::string name;
  std::size_t tokens = 0;
  std::size_t rows = 0;             // that the trace keeps
  std::optional<bool> same_tokens;  // our tokenizer makes the trace's tokens of its text; nothing where either is missing
  LogitsComparison logits;          // of those rows; of none where the trace leaves logits out
  double logits_rms = 0;            // of the differences of logits over those rows, each row less its mean
  std::vector<SiteRms> sites;       // lm_head included
  std::vector<std::string> apart;   // the trace's sites that are not compared: blocks, and what the plan has not
  std::optional<GreedyComparison> greedy;

  // Where the greedy texts part: what parted them, both gaps together, is at most two standard deviations of the difference of two
  // logits' errors, each logits_rms.
  bool greedy_is_tie() const;
};

// Positions that the longest of the trace's prompts takes, with its greedy text.
std::int64_t positions_needed(const TraceFile& trace);

// Resets the engine, whose plan needs all_logits. `beside`: another trace of the same prompts, for SiteRms::other; `tokenizer`:
// ours. Both may be null. Throws Hdf5Error for a trace that is wrong in itself or lacks what the other has, and
// std::invalid_argument, naming prompt and site, where model and trace do not fit together or nothing can be compared.
PromptEvaluation evaluate_prompt(Engine& engine, const TraceFile& trace, const std::string& prompt, const TraceFile* beside,
                                 const Tokenizer* tokenizer);

// The continuation alone: from an empty cache, as many tokens as the trace has, each read once. std::invalid_argument for a token
// that the model has not.
GreedyComparison compare_greedy(Engine& engine, const TracePrompt& prompt);

}  // namespace assay
