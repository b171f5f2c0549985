// The source of a kernel, as debug information has it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/verdict/suite.h"

namespace assay {

// `file`: relative to the working directory if it lies in it, as CI services want it.
struct SourcePlace {
  std::string file;
  std::int64_t line = 1;
};

// Where the function begins; where no debug information says so, what specifies its op: kernels/<family>/<family>.h.
SourcePlace source_place(const CodePlace& code, const Op& op);

// Of the variants that have a case which did not pass, by their labels.
std::map<std::string, SourcePlace> places_of_problems(const SuiteResult& result);

}  // namespace assay
