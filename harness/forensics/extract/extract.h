// A step's inputs out of a trace as a golden case of its op: what a kernel did in a model, to be checked and debugged alone.
#pragma once

#include <filesystem>
#include <string>

#include "engine/model/model_file.h"
#include "golden/store.h"
#include "golden/trace.h"
#include "harness/forensics/audit/formula.h"
#include "reference/ops/op.h"

namespace assay {

struct ExtractRequest {
  const ModelFile* model = nullptr;  // that the trace was made with
  const TraceFile* trace = nullptr;
  std::string prompt;  // empty: the first
  std::string site;
  std::int64_t window = 0;  // attention's, as the run had it
  bool fused = false;       // a projection with the quantisation of its activations: op linear_<type>
};

struct Extracted {
  std::string op;
  GoldenCase golden;        // inputs from the trace and the model, truth from the op's reference in fp64
  RowMatrix recorded = {};  // what the trace has there: as many numbers as the op's output
};

// Many rows ask for the op of prefill, one row for that of decode. Inputs in a wider type than the op's are rounded to it.
// Throws std::invalid_argument for an unknown site or prompt, and where the trace lacks an input, naming it.
Extracted extract(const ExtractRequest& request);

// Numbers as f32.
Array floats(const RowMatrix& rows, std::vector<std::int64_t> shape);

// The reference's truth of a case's outputs, for its parameters and inputs.
void add_truth(const Op& op, GoldenCase& golden);

// Where a case comes from, as its file says it.
struct CaseOrigin {
  std::string generator;  // "assay extract"
  std::string source;
  std::string licence;
};

// A golden file of that one case, whole or not at all.
void write_case(const std::filesystem::path& path, const Extracted& extracted, const CaseOrigin& origin);

}  // namespace assay
