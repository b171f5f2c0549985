#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "harness/cli/check_options.h"
#include "harness/cli/cli.h"
#include "harness/cli/explained.h"
#include "harness/cli/process.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/forensics/explain/report.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

struct ExplainOptions {
  CheckSelection selection;
  double seconds = kExplainSeconds;
};

int explain_ops(ExplainOptions options, const Common& common) {
  const CheckRequest request = request_of(options.selection);
  const NotedInterrupt interrupt;
  const std::vector<why::ExplainResult> results = explained(request, request.ops, options.seconds);
  if (NotedInterrupt::signal() != 0) return kSignalled + NotedInterrupt::signal();
  if (common.json) {
    nlohmann::ordered_json json = environment_json();
    if (request.runner && !request.runner->declared.empty()) json["declared"] = request.runner->declared;
    json["ops"] = nlohmann::ordered_json::array();
    for (const why::ExplainResult& one : results) json["ops"].push_back(why::explain_json(one));
    fmt::print("{}", json_text(json));
  } else {
    for (const why::ExplainResult& one : results) fmt::print("{}", why::explain_text(one, common.style()));
  }
  return std::ranges::all_of(results, [](const auto& one) { return one.kernels.empty(); }) ? kPass : kParityFailure;
}

}  // namespace

std::vector<why::ExplainResult> explained(const CheckRequest& request, const std::vector<std::string>& ops, double seconds) {
  std::vector<why::ExplainResult> results;
  StatusLine line;
  for (const std::string& op : ops) {
    why::ExplainRequest one{request, seconds, [&](const std::string& text) { line.show(text); },
                            [] { return NotedInterrupt::signal() != 0; }};
    one.check.ops = {op};
    results.push_back(why::explain_op(one));
    if (NotedInterrupt::signal() != 0) break;
  }
  return results;
}

Action add_explain(CLI::App& app, const Common& common) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Say why a kernel fails: find the simplest other computation that fits every case");
  add_selection(*command, options->selection, "Ops to explain, or patterns such as 'gemm_*'")->required();
  command->add_option("--seconds", options->seconds, "Seconds that a kernel may take, by default 300")->check(above_zero());
  command->footer("Example: assay explain rms_norm --plugin mine.so");
  return [options, &common] { return explain_ops(*options, common); };
}

}  // namespace assay::cli
