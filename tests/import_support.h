// Dumps of other engines for the tests of `assay import`, made from committed traces, so that an import has a known answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "golden/trace.h"
#include "tests/refusals.h"

namespace assay {

// A node of llama.cpp's graph, as a dump holds it.
struct DumpedNode {
  std::string name;
  std::string op;
  std::string src0;
  std::vector<std::int64_t> ne;  // innermost first
  std::vector<float> values;
};

struct LlamaDump {
  std::vector<std::int32_t> tokens;
  std::vector<DumpedNode> nodes;
  std::vector<float> logits;
  std::int64_t vocab = 0;

  // The first node of that name and op.
  DumpedNode& node(const std::string& name, const std::string& op);
  void write(const std::filesystem::path& path) const;
};

// The run of a trace, with the nodes between its sites, views and repeated names that llama.cpp's graph has.
LlamaDump llama_dump(const TraceFile& trace, const std::string& prompt);

// Sees each dataset of a dump before it is written; may alter it, or return false to leave it out.
using ChangeDataset = std::function<bool(const std::string& dataset, Array& values)>;
// Prompts of a trace in the layout of transformers' dumps.
void write_hf_dump(const std::filesystem::path& path, const TraceFile& trace, const std::vector<std::string>& prompts,
                   const ChangeDataset& change);

// Same tokens, positions, sites, types, shapes and bytes; `same_order`: of the sites too.
void expect_same_prompt(const TraceFile& a, const TraceFile& b, const std::string& prompt, bool same_order = true);

}  // namespace assay
