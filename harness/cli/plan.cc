#include "engine/plan/plan.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "engine/model/model_file.h"
#include "harness/cli/cli.h"
#include "harness/cli/converted.h"
#include "harness/cli/model_options.h"
#include "harness/cli/plan_text.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/plan_c/plan_c.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

struct PlanCommand {
  ModelOptions model;
  bool all = false;
  bool all_rows = false;
  std::string folder;  // of a program in C
  std::string layers;
  std::string input;
  std::string prompt;
  std::string threads = "none";
};

// "2-4", "2".
std::pair<std::int64_t, std::int64_t> parse_layers(const std::string& text) {
  std::pair<std::int64_t, std::int64_t> layers;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, layers.first);
  layers.second = layers.first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, layers.second);
  if (read.ec == std::errc() && read.ptr == end) return layers;
  throw std::invalid_argument(fmt::format("--layers '{}': expected layers as in 2-4 or 2", text));
}

int write_c(const PlanCommand& command, const PlanOptions& options, const Common& common) {
  PlanCRequest request{.model = model_path(command.model),
                       .folder = command.folder,
                       .options = options,
                       .layers = {},
                       .input = command.input,
                       .prompt = command.prompt,
                       .openmp = command.threads == "openmp",
                       .threads = thread_count(0)};
  if (!command.layers.empty()) request.layers = parse_layers(command.layers);
  std::vector<std::filesystem::path> files;
  {
    StatusLine line;
    request.progress = [&line](std::int64_t done, std::int64_t total) {
      line.show(fmt::format("{} of {} bytes packed", done, total));
    };
    files = write_plan_c(request);
  }
  if (common.json) {
    nlohmann::ordered_json json = environment_json();
    for (const auto& file : files) json["files"].push_back(file.string());
    fmt::print("{}", json_text(json));
    return kPass;
  }
  for (const auto& file : files) fmt::print("{}\n", file.string());
  const std::string input = command.layers.empty()  ? "-n 8 1"
                            : command.input.empty() ? "--input ROWS.safetensors"
                                                    : "--input " + command.folder + "/input.safetensors";
  fmt::print("next: make -C {0} && {0}/main {1}\n", command.folder, input);
  return kPass;
}

void add_c_options(CLI::App& command, PlanCommand& options) {
  CLI::Option* const c =
      command.add_option("--c", options.folder, "Write the plan as C11 into this new folder, its weights packed beside it");
  CLI::Option* const layers =
      command.add_option("--layers", options.layers, "Only these layers of the C program, as in 2-4")->needs(c);
  CLI::Option* const input =
      command.add_option("--input", options.input, "A trace whose rows are these layers' input, written as input.safetensors")
          ->needs(layers);
  command.add_option("--prompt", options.prompt, "A prompt of that trace; by default its first")->needs(input);
  command.add_option("--c-threads", options.threads, "Threads of the C program: none, or openmp")
      ->check(one_of({"none", "openmp"}))
      ->needs(c);
}

}  // namespace

Action add_plan(CLI::App& app, const Common& common) {
  auto options = std::make_shared<PlanCommand>();
  CLI::App* command =
      app.add_subcommand("plan", "Show a model's steps and memory before anything is loaded, or write them as a C program");
  add_plan_options(*command, options->model);
  command->add_flag("--all", options->all, "Show every layer and every buffer");
  command->add_flag("--all-rows", options->all_rows, "Give logits for every token of a prefill pass, not only for the last");
  add_c_options(*command, *options);
  command->footer("Example: assay plan golden/models/kjv --context 1024 --kv paged --kv-type f16");
  return [options, &common] {
    PlanOptions plan_for = plan_options(options->model);
    plan_for.all_logits = options->all_rows;
    if (!options->folder.empty()) return write_c(*options, plan_for, common);
    const ModelFile model(model_path(options->model));
    const Plan plan = make_plan(model.config(), model.weights(), plan_for);
    fmt::print("{}", common.json ? json_text(plan_json(plan)) : plan_text(plan, options->all, common.style()));
    return kPass;
  };
}

}  // namespace assay::cli
