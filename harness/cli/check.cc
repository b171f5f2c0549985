#include <fmt/format.h>

#include <memory>
#include <random>

#include "harness/cli/cli.h"
#include "harness/cli/runner_options.h"
#include "harness/cli/shape.h"
#include "harness/cli/status_line.h"
#include "harness/reports/report.h"
#include "harness/verdict/nearest.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kRandomCases = 3;  // of each op, where --cases does not say

struct CheckOptions {
  std::vector<std::string> ops;
  std::string isa;
  std::string case_name;
  std::string tag;
  std::string golden;
  std::string shape;
  std::string data;
  std::string checks;
  std::string shard;
  std::string variant;
  RunnerCliOptions runner;
  std::string ledger;
  std::optional<std::uint64_t> seed;
  std::int64_t cases = 0;
  bool any_length = false;
};

SuiteResult run_with_status_line(const CheckRequest& request) {
  const StatusLine line;
  std::int64_t count = 0;
  return run_suite(
      request, [&](const CaseResult& one) { line.show(fmt::format("{} cases, {} {}", ++count, one.variant, one.case_name)); });
}

// --shape or --data make cases instead of reading them.
std::optional<GeneratedRequest> generated_request(const CheckOptions& options) {
  if (options.shape.empty() && options.data.empty()) return std::nullopt;
  GeneratedRequest request;
  request.shape = parse_shape(options.shape);
  request.seed = options.seed.value_or(1);
  if (!options.data.empty()) request.data = options.data;
  std::vector<std::string> names(distribution_names().begin(), distribution_names().end());
  names.emplace_back("underflow");
  if (std::find(names.begin(), names.end(), request.data) == names.end()) {
    throw std::invalid_argument(unknown_name("data", request.data, names));
  }
  return request;
}

int check(const CheckOptions& options, const Common& common) {
  CheckRequest request;
  request.ops = options.ops;
  request.runner = options.runner.options();
  request.isa = wanted_isa(options.isa, request.runner.has_value());
  request.variant = options.variant;
  request.own_ledger = options.ledger;
  if (!options.ledger.empty() && !request.plugins()) throw std::invalid_argument("--ledger is of plugins: name one by --plugin");
  request.case_name = options.case_name;
  request.tag = options.tag;
  request.golden = options.golden;
  if (!options.shard.empty()) request.shard = Shard::parse(options.shard);
  request.checks = options.checks.empty() ? Checks::from_environment() : Checks::parse(options.checks);
  request.generated = generated_request(options);
  request.generated_cases = std::max<std::int64_t>(options.cases, 1);
  const bool own = options.golden.empty();
  request.shapes = own;
  request.random_cases = !own ? 0 : options.cases > 0 ? options.cases : kRandomCases;
  if (options.any_length) request.work = kLongWork;
  // Shards are parts of one run: they draw alike.
  request.seed = options.seed ? *options.seed : request.shard.split() ? 1 : std::random_device()();
  const SuiteResult result = run_with_status_line(request);
  if (common.json) {
    fmt::print("{}\n", suite_json(result, request).dump(1));
  } else {
    fmt::print("{}", suite_table(result, request.checks, common.style()));
  }
  return result.passed() ? kPass : kParityFailure;
}

}  // namespace

Action add_check(CLI::App& app, const Common& common) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Hold kernels to goldens and reference; exit 1 on any failure");
  command->add_option("op", options->ops, "Ops to check; none: all");
  command->add_option("--isa", options->isa, "Only variants of this ISA");
  command->add_option("--case", options->case_name,
                      "Only this case; 'bias', 'shapes', 'values', 'kept', 'vast' and 'random' are those made from seeds");
  command->add_option("--tag", options->tag, "Only cases with this tag, such as real");
  command->add_option("--golden", options->golden, "A folder of golden files instead of the project's own");
  command->add_option("--shape", options->shape, "Make cases of these sizes, such as k=1000,n=77");
  command->add_option("--data", options->data, "Distribution of made cases, such as gauss, wide or denormal");
  command->add_option("--seed", options->seed,
                      "Seed of the first random or made case; without it random ones have another in every run");
  command->add_option("--cases", options->cases, "Random cases of each op, by default 3; with --shape or --data, cases to make")
      ->check(CLI::PositiveNumber);
  command->add_flag("--long", options->any_length,
                    "Random cases, shapes and vast calls of any length: seconds a case, gigabytes at most");
  command->add_option("--shard", options->shard,
                      "Only part I of N of the cases, such as 2/8; `assay report --merge` joins the parts");
  command->add_option("--checks", options->checks, "Limit the verdict: classes,bound,bias,spread,exact,guard,bits,ledger");
  command->add_option("--variant", options->variant, "Only this variant, such as mine:rms_norm");
  options->runner.add_to(*command);
  command->add_option("--ledger", options->ledger,
                      "Digests of the plugins' kernels, kept for their owner (assay ledger accept --ledger)");
  command->footer("Example: assay check matvec_f16 --isa avx2 --shape k=1000,n=77 --data wide --seed 5 --cases 100");
  return [options, &common] { return check(*options, common); };
}

}  // namespace assay::cli
