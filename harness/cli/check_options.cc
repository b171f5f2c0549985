#include "harness/cli/check_options.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "harness/cli/shape.h"
#include "harness/cli/values.h"
#include "harness/verdict/nearest.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kRandomCases = 3;  // of each op, where --cases does not say

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

}  // namespace

CheckRequest request_of(CheckSelection& selection, const std::string& shard) {
  CheckRequest request;
  request.ops = named_ops(selection.ops);
  request.runner = selection.runner.options();
  selection.runner.plugins = plugin_paths(selection.runner.plugins);
  if (request.runner) selection.runner.declared = request.runner->declared;
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

CLI::Option* add_selection(CLI::App& command, CheckSelection& selection, const std::string& ops) {
  CLI::Option* const op = command.add_option("op", selection.ops, ops);
  add_isas(command, selection.isas);
  command.add_option(
      "--case", selection.case_name,
      "Only this case, or those of a pattern; 'bias', 'shapes', 'values', 'kept', 'vast' and 'random' are those made from seeds");
  command.add_option("--tag", selection.tag, "Only cases with this tag, such as real");
  command.add_option("--golden", selection.golden, "A golden file, or a folder of them, in place of the project's own");
  command.add_option("--shape", selection.shape, "Make cases of these sizes, such as k=1000,n=77");
  command.add_option("--data", selection.data, "Distribution of made cases, such as gauss, wide or denormal");
  command.add_option("--seed", selection.seed,
                     "Seed of the first random or made case; by default every run draws another for the random ones");
  command.add_option("--cases", selection.cases, "Random cases of each op, by default 3; with --shape or --data, cases to make")
      ->check(whole(1));
  command.add_flag("--long", selection.any_length,
                   "Random cases, shapes and vast calls of any length: seconds per case, gigabytes of memory");
  command.add_option("--checks", selection.checks,
                     "Judge by these checks alone: classes,bound,bias,spread,exact,guard,bits,ledger");
  command.add_option("--variant", selection.variant,
                     "Only this variant, or those of a pattern, such as mine:rms_norm or 'mine:*'");
  selection.runner.add_to(command);
  selection.runner.add_declare_to(command);
  return op;
}

}  // namespace assay::cli
