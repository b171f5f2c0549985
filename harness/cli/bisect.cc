#include "harness/forensics/attribute/bisect.h"
#include "harness/reports/report.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "harness/cli/chosen_engine.h"
#include "harness/cli/cli.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/forensics/trace/model_digest.h"

namespace assay::cli {
namespace {

struct BisectOptions {
  ModelOptions model;
  std::string golden;
  std::vector<std::string> prompts;
  double threshold = 0;
};

int bisect_model(const BisectOptions& options, const Common& common) {
  const ModelFile model(model_path(options.model));
  const TraceFile golden(options.golden);
  fmt::print(stderr, "{}", note_of_other_model(model_path(options.model), golden));
  const auto engine = load_engine_for_logits(model, options.model);
  BisectRequest request{engine.get(), &golden, options.prompts, {}, {}};
  std::optional<StatusLine> line(std::in_place);
  request.within_run = [&](const std::string& text) { line->show(text); };
  if (options.threshold > 0) request.threshold = options.threshold;
  request.progress = [&](const BisectRun& run) {
    line.emplace();  // clears what it showed
    if (!common.json) fmt::print("  {:<9.3g} {} {}\n", run.distance, run.within ? "<=" : "> ", run.what);
  };
  const Bisection result = bisect(request);
  line.reset();
  fmt::print("{}", common.json ? json_text(bisection_json(result)) : bisection_text(result, common.style()));
  return !result.reference_is_far() && result.nothing_to_find() ? kPass : kParityFailure;
}

}  // namespace

Action add_bisect(CLI::App& app, const Common& common) {
  auto options = std::make_shared<BisectOptions>();
  CLI::App* command = app.add_subcommand(
      "bisect", "Find the smallest set of steps whose kernels explain the logits' distance from a golden trace");
  add_model_options(*command, options->model);
  command->add_option("--golden", options->golden, "The golden trace whose logits the model is compared with")->required();
  command->add_option("--prompt", options->prompts, "A prompt of the golden trace; by default all; repeatable");
  command->add_option("--threshold", options->threshold, "Relative RMS; by default twice that of the all-reference run")
      ->check(above_zero());
  command->footer("Example: assay bisect --golden golden/traces/kjv-hf-f32.h5 --prompt genesis");
  return [options, &common] { return bisect_model(*options, common); };
}

}  // namespace assay::cli
