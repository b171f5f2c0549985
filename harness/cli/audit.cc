#include "harness/forensics/audit/audit.h"
#include "harness/reports/report.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "harness/cli/cli.h"
#include "harness/cli/converted.h"
#include "harness/cli/model_options.h"
#include "harness/cli/status_line.h"
#include "harness/forensics/trace/model_digest.h"

namespace assay::cli {

Action add_audit(CLI::App& app, const Common& common) {
  struct Options {
    std::string model;
    std::string trace;
    std::string recipe;
    std::vector<std::string> prompts;
    std::vector<std::string> allowed;
    int threads = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("audit", "Check another engine's trace, step by step, against the definition in fp64");
  command->add_option("model", options->model, "The model that the engine was given: a GGUF file or a Hugging Face folder")
      ->required();
  command->add_option("trace", options->trace, "Its trace, an .h5 file")->required();
  command->add_option(
      "--recipe", options->recipe,
      "Which engine's roundings to allow: a name (docs/audit.md has them), or FILE.json; by default what the trace says");
  command->add_option("--prompt", options->prompts, "A prompt of the trace; by default all; repeatable");
  command->add_option(
      "--allow", options->allowed,
      "SITE=BOUNDS WHY: a known deviation, listed, which fails when it grows; or a file with one per line; repeatable");
  add_threads_option(*command, options->threads);
  command->footer("Example: assay audit golden/models/kjv golden/traces/kjv-hf-bf16.h5");
  return [options, &common] {
    const ModelFile model(options->model);
    const TraceFile trace(options->trace);
    fmt::print(stderr, "{}", note_of_other_model(options->model, trace));
    AuditRequest request{&model, &trace, options->recipe, options->prompts, definition_wiring(model.config())};
    request.allowed = read_allowed(options->allowed);
    request.threads = thread_count(options->threads);
    const AuditMemory memory = audit_memory(request);
    if (!common.json)
      fmt::print(
          stderr,
          "at most {:.0f} MB: {:.0f} of the model's file, {:.0f} of the trace, {:.0f} of decoded weights, {:.0f} of a site\n",
          static_cast<double>(memory.sum()) / 1e6, static_cast<double>(memory.model) / 1e6,
          static_cast<double>(memory.trace) / 1e6, static_cast<double>(memory.weights) / 1e6,
          static_cast<double>(memory.site) / 1e6);
    std::optional<StatusLine> line(std::in_place);
    request.progress = [&](const std::string& text) { line->show(text); };
    const AuditResult result = audit(request);
    line.reset();
    fmt::print("{}", common.json ? json_text(audit_json(result)) : audit_text(result, common.style()));
    return result.passed() ? kPass : kParityFailure;
  };
}

}  // namespace assay::cli
