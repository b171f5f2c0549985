#include <fmt/format.h>

#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "golden/atomic_file.h"
#include "golden/output_rule.h"
#include "harness/cli/check_options.h"
#include "harness/cli/ci_outputs.h"
#include "harness/cli/cli.h"
#include "harness/cli/last_failed.h"
#include "harness/cli/process.h"
#include "harness/cli/shape.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/reports/report.h"
#include "harness/reports/suite_text.h"
#include "harness/verdict/nearest.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kRandomCases = 3;  // of each op, where --cases does not say

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

// --shape or --data make cases instead of reading them.
std::optional<GeneratedRequest> generated_request(const CheckSelection& selection) {
  if (selection.shape.empty() && selection.data.empty()) return std::nullopt;
  GeneratedRequest request;
  request.shape = parse_shape(selection.shape);
  request.seed = selection.seed.value_or(1);
  if (!selection.data.empty()) request.data = selection.data;
  std::vector<std::string> names(distribution_names().begin(), distribution_names().end());
  names.emplace_back("underflow");
  if (std::find(names.begin(), names.end(), request.data) == names.end()) {
    throw std::invalid_argument(unknown_name("data", request.data, names));
  }
  return request;
}

// The names that stand for what was not said are in `selection` afterwards: the seed, and what the environment asks for.
CheckRequest request_of(CheckSelection& selection, const std::string& shard) {
  CheckRequest request;
  request.ops = named_ops(selection.ops);
  request.runner = selection.runner.options();
  selection.runner.plugins = plugin_paths(selection.runner.plugins);
  request.isas = wanted_isas(selection.isas, request.runner.has_value());
  request.variant = selection.variant;
  request.own_ledger = selection.ledger;
  if (!selection.ledger.empty() && !request.plugins())
    throw std::invalid_argument("--ledger is of plugins: name one by --plugin");
  request.case_name = selection.case_name;
  request.tag = selection.tag;
  request.golden = selection.golden;
  if (!shard.empty()) request.shard = Shard::parse(shard);
  request.checks = selection.checks.empty() ? Checks::from_environment() : Checks::parse(selection.checks);
  selection.checks = request.checks.to_string();
  request.generated = generated_request(selection);
  request.generated_cases = std::max<std::int64_t>(selection.cases, 1);
  const bool own = selection.golden.empty();
  request.shapes = own;
  request.random_cases = !own ? 0 : selection.cases > 0 ? selection.cases : kRandomCases;
  if (selection.any_length) request.work = kLongWork;
  // Shards are parts of one run: they draw alike.
  request.seed = selection.seed ? *selection.seed : request.shard.split() ? 1 : std::random_device()();
  selection.seed = request.seed;
  return request;
}

int check(CheckOptions options, const Common& common) {
  if (options.explain) {
    fmt::print("{}", explain_columns(common.style()));
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
  std::optional<AtomicFile> output;
  if (!options.output.empty()) output.emplace(options.output, kOwnJson);  // before the work
  CiFiles ci_files(options.ci);
  const NotedInterrupt noted;
  const Style style = common.style();
  Teller teller(!common.json && !options.quiet, options, style);
  const SuiteResult result = run_suite(request, teller);
  teller.clear();
  const std::string json = output || common.json ? suite_json(result, request).dump(1) + "\n" : "";
  ci_files.write(result, request);
  if (output) {
    output->write_text(json);
    output->commit();
  }
  fmt::print("{}", common.json ? json : suite_end(result, request.checks, style, options.detail()));
  if (result.interrupted) return kSignalled + NotedInterrupt::signal();
  keep_failed(options.selection, result);
  return result.passed() ? kPass : kParityFailure;
}

void add_selection(CLI::App& command, CheckSelection& selection) {
  command.add_option("op", selection.ops, "Ops to check, or patterns such as 'gemm_*'; none: all");
  add_isas(command, selection.isas);
  command.add_option(
      "--case", selection.case_name,
      "Only this case, or those of a pattern; 'bias', 'shapes', 'values', 'kept', 'vast' and 'random' are those made from seeds");
  command.add_option("--tag", selection.tag, "Only cases with this tag, such as real");
  command.add_option("--golden", selection.golden, "A folder of golden files instead of the project's own");
  command.add_option("--shape", selection.shape, "Make cases of these sizes, such as k=1000,n=77");
  command.add_option("--data", selection.data, "Distribution of made cases, such as gauss, wide or denormal");
  command.add_option("--seed", selection.seed,
                     "Seed of the first random or made case; without it random ones have another in every run");
  command.add_option("--cases", selection.cases, "Random cases of each op, by default 3; with --shape or --data, cases to make")
      ->check(whole(1));
  command.add_flag("--long", selection.any_length,
                   "Random cases, shapes and vast calls of any length: seconds a case, gigabytes at most");
  command.add_option("--checks", selection.checks, "Limit the verdict: classes,bound,bias,spread,exact,guard,bits,ledger");
  command.add_option("--variant", selection.variant,
                     "Only this variant, or those of a pattern, such as mine:rms_norm or 'mine:*'");
  selection.runner.add_to(command);
  command.add_option("--ledger", selection.ledger,
                     "Digests of the plugins' kernels, kept for their owner (assay ledger accept --ledger)");
}

}  // namespace

Action add_check(CLI::App& app, const Common& common) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Hold kernels to goldens and reference; exit 1 on any failure");
  add_selection(*command, options->selection);
  std::vector<CLI::Option*> selecting = command->get_options();
  selecting.push_back(command->add_option("--shard", options->shard,
                                          "Only part I of N of the cases, such as 2/8; `assay report --merge` joins the parts"));
  command->add_flag("--failed", options->failed,
                    "Repeat the cases that failed in this folder's last check, as they were run then");
  command->add_option("-j,--jobs", options->jobs, "Processes that share the work; without it one a core, with --runner one")
      ->check(whole(1));
  command->add_option("-o,--output", options->output, "Write the JSON to a file as well");
  options->ci.add_to(*command);
  command->add_option("--max-failures", options->most_failures, "Kinds of failure to show, by default 5; the JSON has all")
      ->check(whole(1));
  CLI::Option* const quiet = command->add_flag("-q,--quiet", options->quiet, "Say what failed and the sum alone");
  command->add_flag("-v,--verbose", options->verbose, "Show each failure and each skipped kernel by itself")->excludes(quiet);
  command->add_flag("--explain-columns", options->explain, "Say what the table's columns mean, and check nothing");
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
