#include "harness/forensics/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/cli/check_options.h"
#include "harness/cli/cli.h"
#include "harness/cli/process.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/forensics/explain/report.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

struct ExplainOptions {
  CheckSelection selection;
  double seconds = 300;
};

int explain_ops(ExplainOptions options, const Common& common) {
  const CheckRequest whole = request_of(options.selection);
  if (whole.ops.empty()) throw std::invalid_argument("explain: no op; expected one or more");
  const NotedInterrupt interrupt;
  nlohmann::ordered_json json = environment_json();
  json["ops"] = nlohmann::ordered_json::array();
  bool fails = false;
  for (const std::string& op : whole.ops) {
    CheckRequest one = whole;
    one.ops = {op};
    why::ExplainResult result;
    {
      StatusLine line;
      result = why::explain_op({std::move(one), options.seconds, [&](const std::string& text) { line.show(text); },
                                    [] { return NotedInterrupt::signal() != 0; }});
    }
    if (NotedInterrupt::signal() != 0) return kSignalled + NotedInterrupt::signal();
    fails = fails || !result.kernels.empty();
    if (common.json) {
      json["ops"].push_back(why::explain_json(result));
    } else {
      fmt::print("{}", why::explain_text(result, common.style()));
    }
  }
  if (common.json) fmt::print("{}\n", json.dump(1));
  return fails ? kParityFailure : kPass;
}

}  // namespace

Action add_explain(CLI::App& app, const Common& common) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Why a kernel fails: the simplest other computation that fits every case");
  add_selection(*command, options->selection);
  command->add_option("--seconds", options->seconds, "Seconds that a kernel may take, by default 300")->check(above_zero());
  command->footer("Example: assay explain rms_norm --plugin mine.so");
  return [options, &common] { return explain_ops(*options, common); };
}

}  // namespace assay::cli
