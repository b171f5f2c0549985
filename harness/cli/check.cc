#include <fmt/format.h>

#include <memory>
#include <thread>
#include <utility>

#include "golden/output_rule.h"
#include "harness/cli/check_options.h"
#include "harness/cli/ci_outputs.h"
#include "harness/cli/cli.h"
#include "harness/cli/explained.h"
#include "harness/cli/last_failed.h"
#include "harness/cli/late_file.h"
#include "harness/cli/process.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/forensics/explain/report.h"
#include "harness/reports/report.h"
#include "harness/reports/suite_text.h"

namespace assay::cli {
namespace {

struct CheckOptions {
  CheckSelection selection;
  std::string shard;
  std::string output;
  CiOutputs ci;
  int jobs = 0;
  std::size_t most_failures = Detail{}.most_failures;
  bool failed = false;
  bool quiet = false;
  bool verbose = false;
  bool explain_columns = false;
  bool explain = false;

  Detail detail() const {
    using Level = Detail::Level;
    return {quiet ? Level::quiet : verbose ? Level::verbose : Level::normal, most_failures};
  }
};

std::string progress_text(const SuiteProgress& now) {
  std::string text = now.cases > 0 ? fmt::format("{} of {} cases", now.cases_done, now.cases)
                                   : fmt::format("{} of {} ops, {} cases", now.ops_done, now.ops, now.cases_done);
  if (now.seconds_left) text += fmt::format(", about {:.0f} s left", std::max(1.0, *now.seconds_left));
  return text;
}

// Prints rows as ops end, and how far the suite is.
class Teller final : public SuiteWatch {
 public:
  Teller(bool rows, const CheckOptions& options, const Style& style) : rows_wanted_(rows), options_(options), style_(style) {}

  void begin(const SuiteResult& known, const std::vector<std::string>& labels) override {
    if (!rows_wanted_) return;
    rows_.emplace(labels, style_);
    head_ = suite_head(known) + rows_->head();
  }
  void progress(const SuiteProgress& now) override {
    if (!options_.quiet) line_.show(progress_text(now));
  }
  void op_done(std::span<const CaseResult> cases) override {
    if (!rows_) return;
    line_.clear();
    fmt::print("{}{}", std::exchange(head_, ""), rows_->rows(cases));
    std::fflush(stdout);
  }
  bool stop() override { return NotedInterrupt::signal() != 0; }
  void clear() { line_.clear(); }

 private:
  bool rows_wanted_;
  const CheckOptions& options_;
  const Style& style_;
  std::optional<SuiteRows> rows_;
  std::string head_;  // until the first row: wrong use may be found before it
  StatusLine line_;
};

// The ops that fail by what their kernels compute.
std::vector<std::string> wrong_ops(const SuiteResult& result) {
  std::vector<std::string> ops;
  for (const CaseResult& one : result.cases) {
    const bool values = one.failure && (one.failure->check == Check::classes || one.failure->check == Check::bound ||
                                        one.failure->check == Check::exact);
    if (values && !one.refusal && (ops.empty() || ops.back() != one.op)) ops.push_back(one.op);
  }
  return ops;
}

int check(CheckOptions options, const Common& common) {
  if (options.explain_columns) {
    fmt::print("{}", common.json ? json_text(columns_json()) : explain_columns(common.style()));
    return kPass;
  }
  std::optional<LastFailed> last;
  if (options.failed) {
    last = last_failed();
    options.selection = last->selection;
  }
  CheckRequest request = request_of(options.selection, options.shard);
  if (last) request.only = last->cases;
  // A runner elsewhere is one machine's, which may have one core.
  const bool elsewhere = !options.selection.runner.command.empty();
  request.jobs = options.jobs > 0 ? options.jobs : elsewhere ? 1 : static_cast<int>(std::thread::hardware_concurrency());
  const bool wants_json = common.json || !options.output.empty();
  request.drawn_digests = wants_json;
  LateFile output(options.output, kOwnJson);
  CiFiles ci_files(options.ci);
  const NotedInterrupt noted;
  const Style style = common.style();
  Teller teller(!common.json && !options.quiet, options, style);
  const SuiteResult result = run_suite(request, teller);
  teller.clear();
  std::vector<why::ExplainResult> why;
  if (options.explain && !result.interrupted) why = explained(request, wrong_ops(result), kExplainSeconds);
  std::string json;
  if (wants_json) {
    nlohmann::ordered_json whole = suite_json(result, request);
    for (const why::ExplainResult& one : why) whole["explanations"].push_back(why::explain_json(one));
    json = json_text(whole);
  }
  ci_files.write(result, request);
  output.write([&] { return json; });
  fmt::print("{}", common.json ? json : suite_end(result, request.checks, style, options.detail()));
  for (const why::ExplainResult& one : why) {
    if (!common.json) fmt::print("{}", why::explain_text(one, style));
  }
  if (result.interrupted) return kSignalled + NotedInterrupt::signal();
  keep_failed(options.selection, result);
  return result.passed() ? kPass : kParityFailure;
}

}  // namespace

Action add_check(CLI::App& app, const Common& common) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("check", "Compare kernels with golden data and an fp64 reference; exit 1 on any failure");
  add_selection(*command, options->selection, "Ops to check, or patterns such as 'gemm_*'; none: all");
  command->add_option("--ledger", options->selection.ledger,
                      "Digests of the plugins' kernels, kept for their owner (assay ledger accept --ledger)");
  std::vector<CLI::Option*> selecting = command->get_options();
  selecting.push_back(command->add_option("--shard", options->shard,
                                          "Only part I of N of the cases, such as 2/8; `assay report --merge` joins the parts"));
  command->add_flag("--failed", options->failed,
                    "Repeat the cases that failed in this folder's last check, as they were run then");
  command->add_option("-j,--jobs", options->jobs, "Processes that share the work; by default one per core, or one with --runner")
      ->check(whole(1));
  command->add_option("-o,--output", options->output, "Write the JSON to a file as well");
  options->ci.add_to(*command);
  command->add_option("--max-failures", options->most_failures, "Kinds of failure to show, by default 5; the JSON has all")
      ->check(whole(1));
  CLI::Option* const quiet = command->add_flag("-q,--quiet", options->quiet, "Print only what failed and the totals");
  command->add_flag("-v,--verbose", options->verbose, "Show every failure and every skipped kernel")->excludes(quiet);
  command->add_flag("--explain-columns", options->explain_columns, "Say what the table's columns mean, and check nothing");
  command->add_flag("--explain", options->explain, "Say below the failures why, as `assay explain` does");
  command->footer("Example: assay check matvec_f16 --isa avx2 --shape k=1000,n=77 --data wide --seed 5 --cases 100");
  return [options, selecting, &common] {
    for (const CLI::Option* one : selecting) {
      if (options->failed && one->count() > 0)
        throw std::invalid_argument(
            fmt::format("--failed and {} do not go together: it takes what the last check had", one->get_name()));
    }
    return check(*options, common);
  };
}

}  // namespace assay::cli
