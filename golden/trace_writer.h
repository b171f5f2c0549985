// Writing traces (golden/SCHEMA.md, "Traces") while a model runs: rows go to disk chunk by chunk, so that what is held in memory does
// not grow with the trace. golden/trace.h reads them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/hdf5_writer.h"
#include "golden/trace.h"

namespace assay {

// The file's head; each becomes a string attribute.
struct TraceHead {
  std::string model;
  std::string weights;       // type of the weights that are run: bf16, f16, Q8_0, Q4_K_M, ...
  std::string model_sha256;  // of model.safetensors or the GGUF file
  std::string recipe;        // whose roundings: assay, definition, hf, llama.cpp
  std::string rope;          // the recipe of the rope table: f64, hf, ggml
  std::string dtype;         // in which the run is computed: float32, ...
  std::string generator;
  std::string version;
  std::string source;
  std::string licence;
};

struct TraceSite {
  std::string name;                     // "layers.07.q_proj"; kLogitsSite is stored as the prompt's logits
  DType dtype = DType::f32;             // f32, f64, f16, bf16; a block format for what is quantised
  std::vector<std::int64_t> row_shape;  // of one row: {1024}, or {16, 64}; in blocks for a block format
  std::int64_t step = 0;                // its place in the Plan; no two sites of a prompt share one

  std::int64_t row_bytes() const;
};

// What the rows of `sites` will take before compression: what the writer is told to expect, names and indices not counted.
std::int64_t raw_trace_bytes(std::span<const TraceSite> sites, std::int64_t rows);

// One file; prompts one after the other. Without commit() nothing is left of it. Throws Hdf5Error naming file and object where the
// disk refuses or a declaration does not hold. The same calls in the same order give the same bytes; another division into portions
// gives the same values.
class TraceWriter {
 public:
  TraceWriter(const std::filesystem::path& path, const TraceHead& head);

  const std::filesystem::path& path() const { return file_.path(); }

  // The Plan that is run, as JSON text; at most once.
  void set_plan(std::string_view json);

  // Ends the prompt before. `sites` and `greedy` of the argument are not looked at: sites are declared, one by one. `positions` are
  // the rows that each site will get, ascending, within the tokens.
  void open_prompt(const TracePrompt& prompt);
  void declare(const TraceSite& site);
  // The raw bytes of all that was declared, in all prompts so far.
  std::int64_t declared_bytes() const { return declared_bytes_; }

  // The next rows of a site of the open prompt, dense, in the order of `positions`: any whole number of them.
  void append(std::string_view site, std::span<const std::uint8_t> rows);
  template <class T>
  void append(std::string_view site, std::span<const T> rows) {
    append(site, {reinterpret_cast<const std::uint8_t*>(rows.data()), rows.size_bytes()});
  }

  // The open prompt's continuation; `text` is stored where it is not empty.
  void set_greedy(const GreedyText& greedy, std::string_view text);

  // Flushes to disk and puts the file in its place. Throws where a site has not got all its rows, naming it.
  void commit();

 private:
  void close_prompt();
  void write_text(const std::string& dataset, std::string_view text);
  template <class T>
  void write_column(const std::string& dataset, DType dtype, const std::vector<T>& column);
  [[noreturn]] void fail(const std::string& object, const std::string& what) const;

  Hdf5Writer file_;
  std::string group_;  // of the open prompt; empty: none
  std::int64_t rows_ = 0;
  std::map<std::string, Hdf5Rows, std::less<>> sites_;  // of the open prompt; they close before the file does
  std::set<std::int64_t> steps_;
  std::int64_t prompts_ = 0;
  std::int64_t declared_bytes_ = 0;
};

}  // namespace assay
