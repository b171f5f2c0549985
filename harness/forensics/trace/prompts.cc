#include "harness/forensics/trace/prompts.h"

#include <algorithm>
#include <stdexcept>

#include "harness/verdict/nearest.h"

namespace assay {

std::vector<std::string> chosen_prompts(const TraceFile& trace, const std::vector<std::string>& wanted) {
  return chosen_prompts(trace.path().string(), trace.prompts(), wanted);
}

std::vector<std::string> chosen_prompts(const std::string& file, const std::vector<std::string>& known,
                                        const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) == known.end())
      throw std::invalid_argument(file + ": " + unknown_name("prompt", name, known));
  }
  return wanted.empty() ? known : wanted;
}

}  // namespace assay
