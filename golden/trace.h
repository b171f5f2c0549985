// Traces (golden/SCHEMA.md, "Traces"): what a model computed at each site, for one prompt or several.
#pragma once

#include <cstdint>
#include <filesystem>
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
  std::vector<std::string> sites;       // in execution order, lm_head last
  std::optional<GreedyText> greedy;
};

class TraceFile {
 public:
  // Throws Hdf5Error where the file is no trace, or of a newer schema.
  explicit TraceFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  // A string of the file's head: model, weights, model_sha256, recipe, rope, dtype, generator, version, source, licence.
  // Throws Hdf5Error where there is none.
  const std::string& head(std::string_view name) const;

  const std::vector<std::string>& prompts() const { return prompts_; }
  // Checked to fit together. Throws Hdf5Error.
  TracePrompt prompt(const std::string& name) const;
  // [rows kept, ...] of a site, lm_head included; f32, f64, f16 or bf16. Throws Hdf5Error where the site is missing or has
  // another number of rows.
  Array site(const TracePrompt& prompt, std::string_view site) const;

 private:
  std::vector<std::string> ordered_sites(const std::string& group) const;
  template <class T>
  std::vector<T> column(const std::string& object, DType dtype) const;
  [[noreturn]] void fail(const std::string& object, const std::string& what) const;

  Hdf5File file_;
  Attributes attributes_;
  std::vector<std::string> prompts_;
};

}  // namespace assay
