// What `assay quantize` and `assay synth` say while they write a model file and when it is there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/convert/quantize.h"
#include "harness/cli/cli.h"

namespace assay::cli {

// Writes the file `out`, telling of each tensor, and returns what it wrote.
using Conversion = std::function<std::vector<ListedTensor>(const ConvertProgress& progress)>;

// Runs it: tensor by tensor on a terminal's status line, then a line a type, the file, its size and the time, or all that as JSON.
void report_conversion(const std::string& out, const Conversion& convert, const Common& common);

// What --type may be: "f32, f16, q8_0, or the mix q4_k_m".
std::string target_words();

// `wanted`, with a warning on standard error where it is more than the cores; where it is 0 one a core.
int thread_count(int wanted);

}  // namespace assay::cli
