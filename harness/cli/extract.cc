#include "harness/forensics/extract/extract.h"

#include <fmt/format.h>

#include <memory>

#include "golden/output_rule.h"
#include "harness/cli/cli.h"
#include "harness/cli/model_options.h"
#include "harness/cli/values.h"
#include "harness/forensics/trace/model_digest.h"
#include "harness/reports/report.h"
#include "harness/verdict/shell.h"

namespace assay::cli {
namespace {

struct ExtractOptions {
  ModelOptions model;
  std::string trace;
  std::string site;
  std::string prompt;
  std::string output;
  bool fused = false;
};

int extract_case(const ExtractOptions& options, const Common& common) {
  const ModelFile model(model_path(options.model));
  const TraceFile trace(options.trace);
  fmt::print(stderr, "{}", note_of_other_model(model_path(options.model), trace));
  NewFile(options.output, kHdf5File);  // whether it may be written, before the work
  const Extracted extracted = extract({&model, &trace, options.prompt, options.site, options.model.window, options.fused});
  write_case(
      options.output, extracted,
      {"assay extract", fmt::format("{} of {}, model {}", options.site, trace.path().filename().string(), trace.head("model")),
       "as the model"});
  const std::string command = fmt::format("assay check {} --golden {}", extracted.op, quoted(options.output));
  if (common.json) {
    nlohmann::ordered_json json = environment_json();
    json["out"] = options.output;
    json["op"] = extracted.op;
    json["case"] = extracted.golden.name;
    json["command"] = command;
    fmt::print("{}", json_text(json));
  } else {
    fmt::print("{}: case {} of {}\n{}\n", options.output, extracted.golden.name, extracted.op, command);
  }
  return kPass;
}

}  // namespace

Action add_extract(CLI::App& app, const Common& common) {
  auto options = std::make_shared<ExtractOptions>();
  CLI::App* command =
      app.add_subcommand("extract", "Make a golden case of a step: its inputs, from a trace, and the true outputs");
  command->add_option("trace", options->trace, "A trace, an .h5 file")->required();
  command->add_option("site", options->site, "The step's site")->required();
  command->add_option("-o,--output", options->output, "The golden file to write")->required();
  command->add_option("--model", options->model.model, "The model of the trace; by default the embedded one");
  command->add_option("--window", options->model.window, "Positions that the traced run looked back at; by default all")
      ->check(whole(1));
  command->add_option("--prompt", options->prompt, "A prompt of the trace; by default the first");
  command->add_flag("--fused", options->fused,
                    "Take a projection together with the quantisation of its activations, as op linear_<type>");
  command->footer("Example: assay extract golden/traces/kjv-hf-f32.h5 layers.03.gate_proj -o case.h5");
  return [options, &common] { return extract_case(*options, common); };
}

}  // namespace assay::cli
