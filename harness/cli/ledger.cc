#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "golden/output_rule.h"
#include "harness/cli/cli.h"
#include "harness/cli/runner_options.h"
#include "harness/reports/figures.h"
#include "harness/reports/report.h"
#include "harness/reports/suite_text.h"

namespace assay::cli {
namespace {

struct LedgerOptions {
  std::string op;
  std::string why;
  std::string file;  // of a plugin's owner; empty: the project's own
  RunnerCliOptions runner;

  std::filesystem::path path() const { return file.empty() ? ledger_path() : std::filesystem::path(file); }
};

std::string user_name() {
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr ? "unknown" : entry->pw_name;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

// By case.
struct Passed {
  std::map<std::string, std::string> digests;
  std::map<std::string, double> margins;
};

// The digests of every case of an op, from a run in which all but the ledger passes on every variant of this CPU, or of the plugins.
// By the name that the ledger knows them by: the op, or of a plugin's kernels op and variant.
std::map<std::string, Passed> passing_digests(const std::string& op, const LedgerOptions& options, const Common& common) {
  CheckRequest request;
  request.ops = {op};
  request.runner = options.runner.options();
  request.checks = Checks::parse("classes,bound,bias,spread,exact,guard,bits");
  const SuiteResult result = run_suite(request);
  if (!result.passed()) {
    fmt::print(stderr, "{}", suite_table(result, request.checks, common.style()));
    throw std::runtime_error(op + ": the ledger takes no digest of kernels that do not pass");
  }
  std::map<std::string, Passed> passed;
  for (const CaseResult& one : result.cases) {
    if (one.digest.empty() || one.drawn) continue;  // refusals have no output, and another seed other digests
    Passed& kernel = passed[options.file.empty() ? op : ledger_key(op, one.variant)];
    kernel.digests[one.case_name] = one.digest;
    kernel.margins[one.case_name] = one.margin;
  }
  return passed;
}

// The ops to accept: of plugins those that they have kernels of.
std::vector<std::string> chosen_ops(const LedgerOptions& options) {
  if (options.op != "all") {
    require_op(options.op);
    return {options.op};
  }
  if (options.file.empty()) return op_names();
  const RemoteRunner runner(*options.runner.options());
  std::vector<std::string> ops;
  for (const RemoteKernel& kernel : runner.kernels()) {
    if (!kernel.plugin.empty() && std::find(ops.begin(), ops.end(), kernel.op) == ops.end()) ops.push_back(kernel.op);
  }
  return ops;
}

int accept(const LedgerOptions& options, const Common& common) {
  if (options.why.find_first_not_of(" \t") == std::string::npos) throw std::invalid_argument("--why: a reason is needed");
  const auto runner = options.runner.options();
  if (options.file.empty() == (runner && !runner->plugins.empty())) {
    throw std::invalid_argument("--plugin and --ledger go together: a plugin's digests are kept in a file of its owner's");
  }
  AtomicFile file(options.path(), kLedger,
                  Replaces::its_input);  // from before it is read until it is written: another acceptance would be lost
  Ledger ledger(options.path());
  nlohmann::ordered_json json = environment_json();
  json["ledger"] = options.path().string();
  json["changed"] = nlohmann::ordered_json::array();
  for (const std::string& op : chosen_ops(options)) {
    for (const auto& [key, passed] : passing_digests(op, options, common)) {
      for (const std::string& name : ledger.accept(key, passed.digests, passed.margins, user_name(), today(), options.why)) {
        json["changed"].push_back({{"op", key}, {"case", name}});
      }
    }
  }
  ledger.save(file);
  if (common.json) {
    fmt::print("{}", json_text(json));
    return kPass;
  }
  for (const auto& one : json["changed"]) fmt::print("{} {}\n", one["op"].get<std::string>(), one["case"].get<std::string>());
  fmt::print("{} changed in {}\n", counted(json["changed"].size(), "case"), options.path().string());
  return kPass;
}

int show(const LedgerOptions& options, const Common& common) {
  const Ledger ledger(options.path());
  if (!options.op.empty() && options.file.empty()) require_op(options.op);
  Table digests({"op", "case", "digest"});
  for (const auto& [op, cases] : ledger.digests()) {
    if (!options.op.empty() && op != options.op) continue;
    for (const auto& [name, digest] : cases) digests.add({op, name, digest});
  }
  Table accepted({"date", "who", "op", ">cases", "why"});
  nlohmann::ordered_json json = environment_json();
  json["digests"] = ledger.digests();
  for (const auto& one : ledger.acceptances()) {
    if (!options.op.empty() && one.op != options.op) continue;
    accepted.add({one.date, one.who, one.op, std::to_string(one.cases.size()), one.why});
    json["accepted"].push_back({{"date", one.date}, {"who", one.who}, {"op", one.op}, {"cases", one.cases}, {"why", one.why}});
  }
  if (common.json) {
    fmt::print("{}", json_text(json));
  } else {
    fmt::print("{}\n{}", digests.render(common.style()), accepted.render(common.style()));
  }
  return kPass;
}

}  // namespace

Action add_ledger(CLI::App& app, const Common& common) {
  auto options = std::make_shared<LedgerOptions>();
  CLI::App* command = app.add_subcommand("ledger", "Show or accept digests of outputs, one for each golden case");
  command->require_subcommand(1);
  command->footer("Example: assay ledger accept rms_norm --why \"sums of squares in four chains\"");
  CLI::App* show_command = command->add_subcommand("show", "Digests, and who accepted them and why");
  show_command->add_option("op", options->op, "Only this op");
  show_command->add_option("--ledger", options->file, "A plugin's ledger instead of the project's own");
  show_command->footer("Example: assay ledger show rms_norm");
  CLI::App* accept_command = command->add_subcommand("accept", "Take the present digests of an op, if it passes all else");
  accept_command->add_option("op", options->op, "The op, or 'all'")->required();
  accept_command->add_option("--why", options->why, "The reason, for those who read the diff")->required();
  accept_command->add_option("--ledger", options->file, "The plugin's ledger, which is made if it is not there");
  options->runner.add_to(*accept_command);
  options->runner.add_declare_to(*accept_command);
  accept_command->footer("Example: assay ledger accept rms_norm --why \"sums of squares in four chains\"");
  return
      [options, &common, accept_command] { return accept_command->parsed() ? accept(*options, common) : show(*options, common); };
}

}  // namespace assay::cli
