// Traces (golden/SCHEMA.md, "Traces"): what a model computed at each site, for one prompt or several.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/hdf5.h"

namespace assay {

// The site whose values are the logits.
inline constexpr std::string_view kLogitsSite = "lm_head";

// A continuation at temperature 0 that stops at no token.
struct GreedyText {
  std::vector<std::int32_t> tokens;
  std::vector<float> gap;  // first minus second logit, one a token
};

struct TracePrompt {
  std::string name;
  std::string text;  // empty where only tokens were given
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> positions;  // the rows kept at every site, ascending, within the tokens
  std::vector<std::string> sites;       // those that are kept, in execution order, lm_head last
  std::optional<GreedyText> greedy;
};

// What a site's values may be: numbers, or blocks where a step quantises.
bool is_trace_dtype(DType dtype) noexcept;

// Calls fail(column, what) where `tokens` or `positions` do not hold what TracePrompt says of them.
void check_trace_rows(const TracePrompt& prompt, const std::function<void(const std::string&, const std::string&)>& fail);

class TraceFile {
 public:
  // Throws Hdf5Error where the file is no trace, or of a newer schema.
  explicit TraceFile(const std::filesystem::path& path, Hdf5Origin origin = Hdf5Origin::stranger);

  const std::filesystem::path& path() const { return file_.path(); }
  // A string of the file's head: model, weights, model_sha256, recipe, rope, dtype, generator, version, source, licence.
  // Throws Hdf5Error where there is none.
  const std::string& head(std::string_view name) const;

  // The Plan that was run, as JSON text, where the trace has it.
  std::optional<std::string> plan() const;

  const std::vector<std::string>& prompts() const { return prompts_; }
  // Checked to fit together. Throws Hdf5Error.
  TracePrompt prompt(const std::string& name) const;
  // [rows kept, ...] of a site, lm_head included; f32, f64, f16, bf16 or blocks. Throws Hdf5Error where the site is missing or has
  // another number of rows.
  Array site(const TracePrompt& prompt, std::string_view site) const;
  // Its type and shape, the bytes left where they are.
  Array describe(const TracePrompt& prompt, std::string_view site) const;

 private:
  std::vector<std::string> ordered_sites(const std::string& group) const;
  std::string text(const std::string& object) const;
  template <class T>
  std::vector<T> column(const std::string& object, DType dtype) const;
  [[noreturn]] void fail(const std::string& object, const std::string& what) const;

  Hdf5File file_;
  Attributes attributes_;
  std::vector<std::string> prompts_;
};

}  // namespace assay
