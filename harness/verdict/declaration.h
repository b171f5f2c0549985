// What a kernel declares that it computes in: the words of docs/declaring.md, "Arithmetic", and what they mean for an op.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference/ops/op.h"

namespace assay {

// Throws std::invalid_argument: a word that there is not, that the op has no use for, or a value that makes no sense.
reference::Arithmetic arithmetic_of(const Op& op, const std::map<std::string, std::string>& words);

// The words that an op has a use for, beside those said.
std::vector<std::string> words_of(const Op& op, const reference::Arithmetic& how = {});

}  // namespace assay
