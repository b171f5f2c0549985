// Two traces held to one another, site by site, and a third for scale: A is ours, B what it is measured against, C another's run
// whose distance from B says how much rounding is usual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golden/trace.h"
#include "harness/forensics/diff/align.h"
#include "harness/forensics/diff/divergence.h"
#include "harness/forensics/diff/logits_diff.h"
#include "harness/forensics/diff/site_error.h"

namespace assay::diff {

struct DiffOptions {
  std::string prompt;           // of A; empty: all
  std::string sites;            // glob; empty: all
  std::optional<double> floor;  // else default_threshold()
  double growth = kGrowth;
  std::int64_t top = 10;  // k of the logits' overlap
};

struct FileHead {
  std::string letter;  // A, B, C
  std::string path;
  std::string model, weights, model_sha256, recipe, rope, dtype;
};

struct PromptDiff {
  std::string name;    // A's
  std::string called;  // "B: prompt": what others call it, where they do not call it so
  std::int64_t tokens = 0;
  std::vector<std::int64_t> kept;  // rows of each side
  Alignment alignment;
  Threshold threshold;
  std::vector<SiteError> errors;   // A from B, in A's order; empty where no row is common
  std::vector<Growth> growth;      // of each of them
  std::vector<SiteError> against;  // C from B, of the same sites; empty without C
  std::optional<LogitsDiff> logits, logits_against;
  std::optional<GreedyDiff> greedy;

  bool aligned() const { return alignment.problems.empty(); }
  // Of `errors`: those that diverge, in execution order.
  std::vector<std::size_t> divergences() const;
  // Sites of A nearer to B than C is, or as near; without C none.
  std::int64_t below() const;
};

struct TraceDiff {
  std::vector<FileHead> files;
  std::vector<std::string> notes;  // what the heads disagree on; prompts that are not compared
  Rounding rounding;               // the coarser of A's and B's
  std::vector<PromptDiff> prompts;

  bool aligned() const;
  std::vector<const PromptDiff*> diverged() const;
};

// `c` may be null. Prompts are matched by name, or else by tokens. One site is in memory at a time. Throws Hdf5Error for what cannot
// be read, std::invalid_argument where no prompt can be compared.
TraceDiff compare_traces(const TraceFile& a, const TraceFile& b, const TraceFile* c, const DiffOptions& options);

}  // namespace assay::diff
