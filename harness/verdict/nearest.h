#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The candidate with the smallest edit distance to `word`; empty if there is none.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Whether `candidate` may be what was meant: no more than a third of the word's letters are others.
bool is_near(std::string_view word, std::string_view candidate);

// "unknown op 'rms_nrom'; the nearest is 'rms_norm'"; where none is near, the few that there are.
std::string unknown_name(std::string_view kind, std::string_view word, const std::vector<std::string>& candidates);

}  // namespace assay
