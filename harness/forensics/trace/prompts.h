// Which of a trace's prompts a command looks at.
#pragma once

#include <string>
#include <vector>

#include "golden/trace.h"

namespace assay {

// `wanted`, or where that is empty all. Throws std::invalid_argument for one that the trace does not have.
std::vector<std::string> chosen_prompts(const TraceFile& trace, const std::vector<std::string>& wanted);

// The same of a file's prompts by their names alone.
std::vector<std::string> chosen_prompts(const std::string& file, const std::vector<std::string>& known,
                                        const std::vector<std::string>& wanted);

}  // namespace assay
