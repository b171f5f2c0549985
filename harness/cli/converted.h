// What `assay quantize` and `assay synth` say while they write a model file and when it is there.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/convert/quantize.h"
#include "harness/style.h"

namespace assay::cli {

// Tensor by tensor on one line of a terminal's standard error; empty elsewhere.
ConvertProgress conversion_line();
void end_conversion_line();

// A line a type, then the file, its size and the time.
std::string converted_table(const std::vector<ListedTensor>& tensors, const std::string& out, double seconds, const Style& style);
nlohmann::ordered_json converted_json(const std::vector<ListedTensor>& tensors, const std::string& out, double seconds);

// `wanted`, or where it is 0 one a core.
int thread_count(int wanted);

}  // namespace assay::cli
