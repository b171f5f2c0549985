#include "engine/plan/plan.h"

#include <fmt/format.h>

#include <memory>

#include "engine/model/model_file.h"
#include "harness/cli/cli.h"
#include "harness/cli/model_options.h"
#include "harness/cli/plan_text.h"

namespace assay::cli {

Action add_plan(CLI::App& app, const Common& common) {
  struct Options {
    ModelOptions model;
    bool all = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("plan", "A model's steps and memory, before anything is loaded");
  add_plan_options(*command, options->model);
  command->add_flag("--all", options->all, "Every layer and every buffer by itself");
  command->footer("Example: assay plan synth-0.6b.gguf --context 1024 --kv paged --kv-type f16");
  return [options, &common] {
    const ModelFile model(model_path(options->model));
    const Plan plan = make_plan(model.config(), model.weights(), plan_options(options->model));
    fmt::print("{}", common.json ? plan_json(plan).dump(1) + "\n" : plan_text(plan, options->all, common.style()));
    return kPass;
  };
}

}  // namespace assay::cli
