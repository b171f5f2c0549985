// Which sites and rows several traces have in common. What they do not is listed, never trimmed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "golden/trace.h"

namespace assay::diff {

// A prompt of one of the traces. `name` is "A", "B" or "C" and is what messages call it.
struct Side {
  std::string name;
  const TraceFile* file = nullptr;
  TracePrompt prompt;
};

// A position that some of the sides keep, but not all.
struct LoneRows {
  std::string sides;  // "A", "BC"
  std::vector<std::int32_t> positions;
};

struct Alignment {
  std::vector<std::string> problems;            // sites missing, extra or of another shape; tokens that differ; no common row
  std::vector<std::string> own;                 // sites of Assay's own traces: "layers.00.kv_store (A)"
  std::vector<std::string> sites;               // in all sides with one shape, in the first side's order
  std::vector<std::int32_t> positions;          // kept by all sides
  std::vector<std::vector<std::int64_t>> rows;  // of each side: the rows of `positions`
  std::vector<LoneRows> lone;
  std::int64_t left_out = 0;  // sites that the glob left out
};

// `glob` (of the shell: * ? [..]) says which sites are looked at; empty: all. No sides are fewer than two.
Alignment align(const std::vector<Side>& sides, const std::string& glob);

// "0-9, 12, 14-20".
std::string ranges_text(const std::vector<std::int32_t>& ascending);

}  // namespace assay::diff
