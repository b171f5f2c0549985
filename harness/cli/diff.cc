#include <fmt/format.h>

#include <memory>
#include <optional>

#include "golden/output_rule.h"
#include "harness/cli/cli.h"
#include "harness/cli/late_file.h"
#include "harness/cli/values.h"
#include "harness/forensics/diff/diff.h"
#include "harness/forensics/diff/page.h"
#include "harness/forensics/diff/report.h"
#include "harness/forensics/trace/model_digest.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

struct DiffCliOptions {
  std::string ours, theirs, against, html;
  diff::DiffOptions diff;
  bool brief = false;
};

int run_diff(const DiffCliOptions& options, const Common& common) {
  const TraceFile ours(options.ours);
  const TraceFile theirs(options.theirs);
  std::optional<TraceFile> against;
  if (!options.against.empty()) against.emplace(options.against);
  fmt::print(stderr, "{}", note_of_other_model(ours, theirs));
  if (against) fmt::print(stderr, "{}", note_of_other_model(theirs, *against));
  LateFile html(options.html, kOwnPage);
  const diff::TraceDiff result = diff::compare_traces(ours, theirs, against ? &*against : nullptr, options.diff);
  html.write([&] { return diff::diff_html(result); });
  if (common.json) {
    fmt::print("{}", json_text(diff::diff_json(result)));
  } else {
    fmt::print("{}", diff::diff_text(result, options.brief, common.style()));
  }
  if (!result.aligned()) return kWrongUse;
  return result.diverged().empty() ? kPass : kParityFailure;
}

}  // namespace

Action add_diff(CLI::App& app, const Common& common) {
  auto options = std::make_shared<DiffCliOptions>();
  CLI::App* command = app.add_subcommand("diff", "Compare two traces site by site: where they diverge, and by how much");
  command->add_option("ours", options->ours, "The trace in question, A; its order is the order of execution")->required();
  command->add_option("theirs", options->theirs, "The trace it is measured against, B")->required();
  command->add_option("--against", options->against, "A third trace, C, for scale: whether A is nearer to B than C is");
  command->add_option("--prompt", options->diff.prompt, "One prompt of A; by default all that both have");
  command->add_option("--sites", options->diff.sites, "Sites to compare, as a shell pattern: 'layers.0[0-3].*'");
  command
      ->add_option("--floor", options->diff.floor,
                   "Relative RMS of a row below which no site diverges; by default from the types")
      ->check(real(0));
  command->add_option("--growth", options->diff.growth, "A site diverges where its error is this many times that of its inputs")
      ->check(above_zero())
      ->capture_default_str();
  command->add_option("--top", options->diff.top, "How many of the largest logits are compared as a set")
      ->check(whole(1))
      ->capture_default_str();
  command->add_option("--html", options->html, "Also write a page with plots");
  command->add_flag("--brief", options->brief, "Leave out the line for each site");
  command->footer("Example: assay diff golden/traces/kjv-hf-f32.h5 golden/traces/kjv-f64.h5 --prompt genesis --html diff.html");
  return [options, &common] { return run_diff(*options, common); };
}

}  // namespace assay::cli
