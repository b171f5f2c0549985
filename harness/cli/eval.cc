#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/tokenizer/tokenizer.h"
#include "golden/output_rule.h"
#include "golden/read_file.h"
#include "harness/cli/chosen_engine.h"
#include "harness/cli/cli.h"
#include "harness/cli/status_line.h"
#include "harness/forensics/eval/eval_report.h"
#include "harness/forensics/trace/model_digest.h"
#include "harness/reports/report.h"
#include "harness/verdict/data_dir.h"

namespace assay::cli {
namespace {

// A pass that gives the logits of all its tokens has room for them: 64 rows of 151,936 are 39 MB. No bit depends on it.
constexpr std::int64_t kMostChunk = 64;

struct EvalOptions {
  ModelOptions model;
  std::string text;
  std::string against;
  std::string beside;
};

std::string read_text(const std::string& path) {
  std::string text = read_file(path);
  if (text.empty()) throw std::runtime_error(path + ": is empty");
  return text;
}

ChosenEngine load(const ModelFile& file, ModelOptions options, std::int64_t context) {
  options.context = context;
  options.chunk = std::min(options.chunk, kMostChunk);
  return load_engine_for_logits(file, options);
}

TextEvaluation evaluate_with_status_line(Engine& engine, Engine* other, const std::vector<std::int32_t>& tokens) {
  StatusLine line;
  return evaluate_text(engine, other, tokens,
                       [&](std::int64_t done, std::int64_t all) { line.show(fmt::format("{} of {} tokens", done, all)); });
}

void print_json(const nlohmann::ordered_json& found) {
  nlohmann::ordered_json json = environment_json();
  json.update(found);
  fmt::print("{}", json_text(json));
}

int eval_text(const EvalOptions& options, const Common& common) {
  const std::string model = model_path(options.model).string();
  const std::string text = options.text.empty() ? (data_dir() / "golden" / "texts" / "revelation-22.txt").string() : options.text;
  const EvalNames names{model, options.against, "", text};
  const ModelFile file(model);
  std::optional<ModelFile> other_file;
  if (!options.against.empty()) other_file.emplace(options.against);
  const Tokenizer tokenizer(file.vocabulary());
  const std::vector<std::int32_t> tokens = tokenizer.encode(read_text(text));
  if (other_file && Tokenizer(other_file->vocabulary()).encode(read_text(text)) != tokens) {
    throw std::invalid_argument(
        fmt::format("{} and {} cut {} into different tokens: logits cannot be compared", model, options.against, text));
  }
  const auto engine = load(file, options.model, options.model.context);
  ModelOptions by_default = options.model;
  by_default.kernels.clear();
  by_default.plugins.clear();
  std::optional<ChosenEngine> other;
  if (other_file) other.emplace(load(*other_file, by_default, engine->plan().options.context));
  const TextEvaluation found = evaluate_with_status_line(*engine, other ? other->get() : nullptr, tokens);
  if (common.json) {
    print_json(text_json(found, names));
  } else {
    fmt::print("{}", text_report(found, names, &tokenizer, common.style()));
  }
  return kPass;
}

// Of a model whose trace has texts; where it has tokens alone the model need not have a tokenizer that works.
std::unique_ptr<Tokenizer> tokenizer_for(const TraceFile& trace, const ModelFile& file) {
  const auto has_text = [&](const std::string& name) { return !trace.prompt(name).text.empty(); };
  if (std::ranges::none_of(trace.prompts(), has_text)) return nullptr;
  return std::make_unique<Tokenizer>(file.vocabulary());
}

int eval_trace(const EvalOptions& options, const Common& common) {
  const std::string model = model_path(options.model).string();
  const TraceFile trace(options.against);
  fmt::print(stderr, "{}", note_of_other_model(model, trace));
  std::optional<TraceFile> beside;
  if (!options.beside.empty()) beside.emplace(options.beside);
  const ModelFile file(model);
  const auto tokenizer = tokenizer_for(trace, file);
  const std::int64_t context = options.model.context == 0 ? positions_needed(trace) : options.model.context;
  const auto engine = load(file, options.model, context);
  std::vector<PromptEvaluation> found;
  for (const std::string& name : trace.prompts()) {
    found.push_back(evaluate_prompt(*engine, trace, name, beside ? &*beside : nullptr, tokenizer.get()));
  }
  const EvalNames names{model, options.against, options.beside, ""};
  if (common.json) {
    print_json(trace_json(found, names));
  } else {
    fmt::print("{}", trace_report(found, names, tokenizer.get(), common.style()));
  }
  return kPass;
}

int eval(const EvalOptions& options, const Common& common) {
  const bool trace = !options.against.empty() && file_kind(options.against) == kHdf5File;
  if (!trace && !options.beside.empty()) throw std::invalid_argument("--beside stands beside a trace: give one with --against");
  if (!trace) return eval_text(options, common);
  if (!options.text.empty()) throw std::invalid_argument("a trace brings its own prompts: leave TEXT or --against out");
  return eval_trace(options, common);
}

}  // namespace

Action add_eval(CLI::App& app, const Common& common) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Measure a model's perplexity, and its distance from another model or a trace");
  add_model_options(*command, options->model);
  command->add_option("text", options->text, "A text to score; by default the last chapter of the King James Version");
  command->add_option("--against", options->against, "Another model, or a trace, which brings its own prompts");
  command->add_option("--beside", options->beside, "A trace of the same prompts, whose distance from the first sets the scale");
  command->footer(
      "Example: assay eval golden/models/kjv --against golden/traces/kjv-f64.h5 --beside golden/traces/kjv-hf-f32.h5");
  return [options, &common] { return eval(*options, common); };
}

}  // namespace assay::cli
