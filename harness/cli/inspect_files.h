// What `assay inspect` says of models and traces.
#pragma once

#include "engine/model/model_file.h"
#include "golden/trace.h"
#include "harness/cli/cli.h"

namespace assay::cli {

// `path`: the model's, as it was named.
void inspect_model(const ModelFile& model, const std::string& path, const Common& common);
void inspect_trace(const TraceFile& trace, const Common& common);

}  // namespace assay::cli
