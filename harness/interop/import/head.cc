// What stands at a trace's head, gathered from the dump, the options and the model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "engine/model/model_file.h"
#include "golden/sha256.h"
#include "harness/forensics/audit/judge.h"
#include "harness/interop/import/foreign_run.h"
#include "harness/verdict/nearest.h"
#include "harness/version.h"
#include "kernels/rope/rope.h"

namespace assay {
namespace {

void take(std::string& field, const std::string& given) {
  if (!given.empty()) field = given;
}

void check_word(const char* kind, const std::string& word, const std::vector<std::string>& known) {
  if (std::ranges::find(known, word) != known.end()) return;
  throw std::invalid_argument(fmt::format("{}; there are: {}", unknown_name(kind, word, known), fmt::join(known, ", ")));
}

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

void take_model(TraceHead& head, const std::filesystem::path& path) {
  const ModelFile model(path);
  if (!model.config().name.empty()) head.model = model.config().name;
  head.weights = weights_name(model.weights());
  if (head.weights.starts_with('q'))
    std::ranges::transform(head.weights, head.weights.begin(), upper);  // as GGUF files are called
  // A sharded model is known by its index.
  const bool folder = std::filesystem::is_directory(path);
  const std::filesystem::path weights = folder ? path / "model.safetensors" : path;
  head.model_sha256 = sha256_file(std::filesystem::exists(weights) ? weights : path / "model.safetensors.index.json");
}

}  // namespace

TraceHead complete_head(TraceHead head, const HeadOptions& options, const std::string& kind, const std::string& file) {
  if (!options.model_file.empty()) take_model(head, options.model_file);
  take(head.model, options.model_name);
  take(head.weights, options.weights);
  take(head.recipe, options.recipe);
  take(head.rope, options.rope);
  take(head.source, options.source);
  take(head.licence, options.licence);
  if (head.model.empty()) throw ImportError(file, "", "which model was run? Give --model FILE or --model-name NAME");
  if (head.weights.empty()) throw ImportError(file, "", "of which type were the weights? Give --model FILE or --weights TYPE");
  check_word("dtype", head.dtype, {"float64", "float32", "bfloat16", "float16"});
  check_word("rope", head.rope, {ASSAY_ROPE_RECIPES});
  recipe_of_head(head.recipe, head.dtype);
  if (head.model_sha256.empty()) head.model_sha256 = "unknown";
  if (head.source.empty()) head.source = std::filesystem::path(file).filename().string();
  if (head.licence.empty()) head.licence = "as the dump";
  head.generator = "assay import " + kind;
  head.version = fmt::format("{} ({})", kVersion, kCommit);
  return head;
}

}  // namespace assay
