// Runs of llama.cpp, as its evaluation callback sees them (docs/traces.md, "Importing").
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/interop/import/foreign_run.h"

namespace assay {

// How the graph calls a node. One name serves several nodes; with the op, and for products with their weight, it is one of them.
struct LlamaNode {
  std::string name;  // "Qcur-0"
  std::string op;    // "MUL_MAT"
  std::string src0;  // name of the first operand
};

// The site that a node is; nothing for what lies between two sites and for views.
std::optional<std::string> llama_site(const LlamaNode& node);

struct LlamaImport {
  std::string prompt = "prompt";  // what the run is called in the trace
  std::string text;               // that it ran, where it is known
  // The positions whose logits were asked for: the last layer may hold those rows alone, and then every site is cut to them.
  // Empty: all.
  std::vector<std::int32_t> outputs;
  HeadOptions head;
};

// Throws ImportError, Hdf5Error.
ForeignRun read_llama_dump(const std::filesystem::path& path, const LlamaImport& options);

}  // namespace assay
