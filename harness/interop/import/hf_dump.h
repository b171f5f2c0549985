// Runs of Hugging Face transformers, as forward hooks see them (docs/traces.md, "Importing").
#pragma once

#include <filesystem>
#include <vector>

#include "harness/interop/import/foreign_run.h"

namespace assay {

struct HfImport {
  std::vector<std::string> prompts;  // of the dump; empty: all
  HeadOptions head;
};

// Throws ImportError, Hdf5Error; std::invalid_argument for an unknown prompt.
ForeignRun read_hf_dump(const std::filesystem::path& path, const HfImport& options);

}  // namespace assay
