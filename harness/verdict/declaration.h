// What a kernel declares that it computes in: the words of docs/declaring.md, "Arithmetic", and what they mean for an op.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/interop/plugin/properties.h"
#include "reference/ops/op.h"

namespace assay {

// Throws std::invalid_argument: a word that there is not, that the op has no use for, or a value that makes no sense.
reference::Arithmetic arithmetic_of(const Op& op, const std::map<std::string, std::string>& words);

// The words that an op has a use for, beside those said.
std::vector<std::string> words_of(const Op& op, const reference::Arithmetic& how = {});

// What a plugin's kernel declares, with what its user declares for it. Throws std::invalid_argument likewise, and for what its claim rules out.
Traits declared_also(const Op& op, bool canonical, const Traits& own, const std::string& words);

}  // namespace assay
