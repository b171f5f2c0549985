#include "harness/forensics/audit/audit.h"

#include <fmt/format.h>

#include <memory>

#include "harness/cli/cli.h"
#include "harness/cli/model_options.h"

namespace assay::cli {

Action add_audit(CLI::App& app, const Common& common) {
  struct Options {
    std::string model;
    std::string trace;
    std::string recipe;
    std::vector<std::string> prompts;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("audit", "Another engine's trace: each site against the definition on its own inputs");
  command->add_option("model", options->model, "The model that the engine was given: a GGUF file or a Hugging Face folder")
      ->required();
  command->add_option("trace", options->trace, "Its trace, an .h5 file")->required();
  command->add_option("--recipe", options->recipe,
                      "Whose roundings: definition, hf-float32, hf-bfloat16, llama.cpp or assay; by default what the trace says");
  command->add_option("--prompt", options->prompts, "Of the trace; by default all (repeatable)");
  command->footer("Example: assay audit golden/models/kjv golden/traces/kjv-hf-bf16.h5");
  return [options, &common] {
    const ModelFile model(options->model);
    const TraceFile trace(options->trace);
    const AuditResult result = audit({&model, &trace, options->recipe, options->prompts, definition_wiring(model.config())});
    fmt::print("{}", common.json ? audit_json(result).dump(1) + "\n" : audit_text(result, common.style()));
    return result.passed() ? kPass : kParityFailure;
  };
}

}  // namespace assay::cli
