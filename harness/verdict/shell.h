// Names as they are typed into a shell.
#pragma once

#include <string>

namespace assay {

bool is_glob(const std::string& word);

// Whether `word` is the name, or a shell's pattern of it: *, ?, [a-z].
bool matches(const std::string& word, const std::string& name);

// The word as a shell takes it: in quotes where it must be.
std::string quoted(const std::string& word);

}  // namespace assay
