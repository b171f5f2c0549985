#include "harness/forensics/attribute/attribute.h"
#include "harness/reports/report.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "harness/cli/chosen_engine.h"
#include "harness/cli/cli.h"
#include "harness/cli/status_line.h"
#include "harness/forensics/trace/model_digest.h"
#include "harness/verdict/shell.h"

namespace assay::cli {
namespace {

struct AttributeOptions {
  ModelOptions model;
  std::string golden;
  std::string recipe;
  std::vector<std::string> prompts;
  bool all = false;
};

int attribute_model(const AttributeOptions& options, const Common& common) {
  const ModelFile model(model_path(options.model));
  const TraceFile golden(options.golden);
  fmt::print(stderr, "{}", note_of_other_model(model_path(options.model), golden));
  const auto engine = load_engine_for_logits(model, options.model);
  std::optional<StatusLine> line(std::in_place);
  const Attribution result = attribute(
      {&model, engine.get(), &golden, options.recipe, options.prompts, [&](const std::string& text) { line->show(text); }});
  line.reset();
  AttributionNames names{model_path(options.model).string(), options.golden};
  for (const std::string& path : options.model.plugins) names.plugins += " --plugin " + quoted(path);
  names.kernels = names.plugins;
  for (const std::string& kernel : options.model.kernels) names.kernels += " --kernel " + quoted(kernel);
  fmt::print("{}",
             common.json ? json_text(attribution_json(result)) : attribution_text(result, options.all, names, common.style()));
  return result.passed() ? kPass : kParityFailure;
}

}  // namespace

Action add_attribute(CLI::App& app, const Common& common) {
  auto options = std::make_shared<AttributeOptions>();
  CLI::App* command = app.add_subcommand(
      "attribute", "Find the step that is at fault, by a golden trace: its kernel (GUILTY), or the plan or a weight (MISWIRED)");
  add_model_options(*command, options->model);
  command->add_option("--golden", options->golden, "The golden trace to compare the model with")->required();
  command->add_option("--recipe", options->recipe, "Which engine's roundings the golden has; by default what it says");
  command->add_option("--prompt", options->prompts, "A prompt of the golden trace; by default all; repeatable");
  command->add_flag("--all", options->all, "Show every site");
  command->footer("Example: assay attribute --golden golden/traces/kjv-hf-f32.h5");
  return [options, &common] { return attribute_model(*options, common); };
}

}  // namespace assay::cli
