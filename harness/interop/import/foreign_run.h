// Another engine's run, on its way from that engine's dump into a trace (golden/SCHEMA.md, "Traces").
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "golden/trace_writer.h"
#include "harness/reports/style.h"

namespace assay {

// A dump that does not hold what a trace needs: "FILE: where: why".
struct ImportError : std::runtime_error {
  ImportError(const std::string& file, const std::string& where, const std::string& why);
};

// A site's values, still in the dump.
struct ForeignSite {
  std::string site;
  std::string from;  // what the dump calls it
  DType dtype = DType::f32;
  std::vector<std::int64_t> row_shape;              // of one row: {features}, or {heads, head_dim}
  std::function<std::vector<std::uint8_t>()> read;  // the kept rows, dense
};

struct ForeignPrompt {
  TracePrompt prompt;              // `sites` is not looked at
  std::vector<ForeignSite> sites;  // in execution order, lm_head last
  std::string greedy_text;
};

// Something in the dump that is no site.
struct LeftOut {
  std::string prompt;  // empty: of the file
  std::string what;
  std::string why;
};

struct ForeignRun {
  std::filesystem::path file;
  TraceHead head;
  std::vector<ForeignPrompt> prompts;
  std::vector<LeftOut> left_out;
};

// Writes the trace, whole or not at all. Throws ImportError where a prompt's sites do not fit its tokens.
void write_foreign_run(const ForeignRun& run, const std::filesystem::path& out);

std::string import_text(const ForeignRun& run, const std::filesystem::path& out, const Style& style);
nlohmann::ordered_json import_json(const ForeignRun& run, const std::filesystem::path& out);

// What a dump does not say of itself. Empty: what the dump, or the model, says.
struct HeadOptions {
  std::string model_file;  // the model that was run: name, type of weights and sha256 come from it
  std::string model_name;
  std::string weights;
  std::string recipe;
  std::string rope;
  std::string source;
  std::string licence;
};

// Completes `head`, in which the reader has put what the dump says, and checks it. `kind`: the import's name. Throws ImportError
// where the model's name or its weights' type is known from nowhere, std::invalid_argument for a recipe, rope or dtype that does
// not exist.
TraceHead complete_head(TraceHead head, const HeadOptions& options, const std::string& kind, const std::string& file);

// The sites of a model of so many layers, in Qwen3's order of execution, lm_head last.
std::vector<std::string> sites_of_layers(std::int64_t layers);
// Throws ImportError that names each site of the model that is missing and each that is none. The number of layers is that of the
// highest layer there is.
void check_all_sites(const ForeignPrompt& prompt, const std::string& file);

// tokens and positions of a dataset of int32 or int64.
std::vector<std::int32_t> read_ids(const Hdf5File& file, const std::string& dataset);
// Calls check_trace_rows; throws ImportError.
void check_rows(const TracePrompt& prompt, const std::string& file, const std::string& where);

}  // namespace assay
