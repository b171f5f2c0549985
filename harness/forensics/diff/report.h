// What compare_traces() found, for people and for programs. page.h makes the page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "harness/forensics/diff/diff.h"
#include "harness/reports/style.h"

namespace assay::diff {

// What does not align first; then each prompt, with a line for each site unless `brief`; the verdict last.
std::string diff_text(const TraceDiff& diff, bool brief, const Style& style);

nlohmann::ordered_json diff_json(const TraceDiff& diff);

// "layers.03.gate_proj: relative RMS 1.0e-02 in the row of position 7, 3.1e-07 in its inputs (layers.03.ffn_norm)".
std::string describe_divergence(const PromptDiff& prompt, std::size_t index);

// What to type after a divergence: its site's inputs as a golden case. Empty: nothing diverges.
std::string next_command(const TraceDiff& diff, const PromptDiff& prompt);

// "[7, 12, 3]": where a site's worst element is: position, then the index in the row.
std::string worst_index(const PromptDiff& prompt, const SiteError& error);

// "1 site", "3 sites".
std::string counted(std::int64_t count, std::string_view noun);

// What a flip of the largest logit is worth: a tie within the error, or not; an error that diverges excuses nothing.
std::string describe_flip(const LogitsFlip& flip, bool diverges);

// What the threshold is and where it comes from.
std::string describe_threshold(const PromptDiff& prompt);

// One line: divergence in which prompts, or none in how many comparisons.
std::string verdict(const TraceDiff& diff);

}  // namespace assay::diff
