#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "engine/tokenizer/tokenizer.h"
#include "golden/trace.h"
#include "harness/cli/chosen_engine.h"
#include "harness/cli/cli.h"
#include "harness/cli/plan_text.h"
#include "harness/cli/status_line.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/forensics/trace/model_digest.h"
#include "harness/forensics/trace/prompts.h"
#include "harness/forensics/trace/record.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

struct TraceOptions {
  ModelOptions model;
  std::string prompt;
  std::string golden;
  std::vector<std::string> prompts;
  std::string output;
  std::vector<std::string> sites;
  std::string tokens;
};

std::vector<RecordPrompt> read_prompts(const TraceOptions& options, const ModelFile& model) {
  if (options.golden.empty() == options.prompt.empty()) throw std::invalid_argument("give either -p TEXT or --golden TRACE");
  if (options.golden.empty()) return {{"prompt", options.prompt, Tokenizer(model.vocabulary()).encode(options.prompt)}};
  const TraceFile golden(options.golden);
  fmt::print(stderr, "{}", note_of_other_model(model_path(options.model), golden));
  std::vector<RecordPrompt> prompts;
  for (const std::string& name : chosen_prompts(golden, options.prompts)) {
    const TracePrompt prompt = golden.prompt(name);
    prompts.push_back({name, prompt.text, prompt.tokens});
  }
  return prompts;
}

bool wants_logits(const TraceOptions& options) {
  return options.sites.empty() || std::ranges::any_of(options.sites, [](const std::string& glob) {
           return matches_glob(glob, kLogitsSite) || matches_glob(glob, "final_norm") || matches_glob(glob, "final_norm.quant");
         });
}

std::string progress_bar(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t kWidth = 40;
  const std::int64_t filled = total > 0 ? done * kWidth / total : kWidth;
  return fmt::format("[{:<{}}] {:.1f} of {:.1f} MB", std::string(static_cast<std::size_t>(filled), '='), kWidth,
                     static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6);
}

Recorded record_with_status_line(RecordRequest request) {
  StatusLine line;
  request.progress = [&](std::int64_t done, std::int64_t total) { line.show(progress_bar(done, total)); };
  return record_trace(request);
}

int trace_model(const TraceOptions& options, const Common& common) {
  const ModelFile model(model_path(options.model));
  const std::vector<RecordPrompt> prompts = read_prompts(options, model);
  EngineOptions settings = engine_options(options.model);
  settings.plan.all_logits = wants_logits(options);
  settings.plan.whole_last_layer = true;
  const auto engine = load_engine(model, options.model, settings);
  RecordRequest request{&model,
                        engine.get(),
                        model_path(options.model),
                        options.output,
                        options.sites,
                        {},
                        steps_json(engine->plan()).dump(),
                        prompts,
                        {},
                        {}};
  if (!options.tokens.empty()) request.kept = parse_kept_tokens(options.tokens);
  request.told = [&](std::int64_t bytes) {
    if (!common.json)
      fmt::print("{}: {:.1f} MB of values to come, before compression\n", options.output, static_cast<double>(bytes) / 1e6);
  };
  const Recorded out = record_with_status_line(request);
  if (common.json) {
    nlohmann::ordered_json json = environment_json();
    json["out"] = options.output;
    json["sites"] = out.sites;
    json["value_bytes"] = out.value_bytes;
    json["file_bytes"] = out.file_bytes;
    json["seconds"] = out.seconds;
    fmt::print("{}", json_text(json));
  } else {
    fmt::print("{}: {} sites, {:.1f} MB on disk, {:.2f} s\n", options.output, out.sites,
               static_cast<double>(out.file_bytes) / 1e6, out.seconds);
  }
  return kPass;
}

}  // namespace

Action add_trace(CLI::App& app, const Common& common) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand("trace", "Run a prompt and record the output of each site (a named step of the model)");
  add_model_options(*command, options->model);
  command->add_option("-p,--text", options->prompt, "The text to run");
  command->add_option("--golden", options->golden, "Run the tokens of this trace's prompts");
  command->add_option("--prompt", options->prompts, "A prompt of the golden trace; by default all; repeatable");
  command->add_option("-o,--output", options->output, "The .h5 file to write")->required();
  command->add_option("--sites", options->sites, "Sites to keep, as a shell pattern; by default all; repeatable");
  command->add_option("--tokens", options->tokens, "Tokens whose rows are kept: FIRST..LAST, FIRST.., ..LAST; by default all");
  command->footer("Example: assay trace -p \"In the beginning\" -o ours.h5 --sites 'layers.03.*'");
  return [options, &common] { return trace_model(*options, common); };
}

}  // namespace assay::cli
