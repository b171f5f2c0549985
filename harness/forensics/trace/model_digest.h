// Which model a file is, and whether a trace is of it.
#pragma once

#include <filesystem>
#include <string>

#include "golden/trace.h"

namespace assay {

// The sha256 of a GGUF file, or of a folder's model.safetensors; a sharded model is known by its index. It is read as a whole.
std::string model_digest(const std::filesystem::path& model);

// A line that says that the trace is of another model's file; empty where it is of this one, or does not say of which.
std::string note_of_other_model(const std::filesystem::path& model, const TraceFile& trace);
std::string note_of_other_model(const TraceFile& ours, const TraceFile& theirs);

}  // namespace assay
