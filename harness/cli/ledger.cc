#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <ctime>
#include <memory>

#include "harness/cli/cli.h"
#include "harness/report.h"

namespace assay::cli {
namespace {

struct LedgerOptions {
  std::string op;
  std::string why;
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

// The digests of every case of an op, from a run in which all but the ledger passes on every variant of this CPU.
std::map<std::string, std::string> passing_digests(const std::string& op, const Common& common) {
  CheckRequest request;
  request.ops = {op};
  request.checks = Checks::parse("classes,bound,bias,spread,exact,guard,bits");
  const SuiteResult result = run_suite(request);
  if (!result.passed()) {
    fmt::print(stderr, "{}", suite_table(result, request.checks, common.style()));
    throw std::runtime_error(op + ": the ledger takes no digest of kernels that do not pass");
  }
  std::map<std::string, std::string> digests;
  for (const CaseResult& one : result.cases) digests[one.case_name] = one.digest;
  return digests;
}

int accept(const LedgerOptions& options, const Common& common) {
  if (options.why.find_first_not_of(" \t") == std::string::npos) throw std::invalid_argument("--why: a reason is needed");
  std::vector<std::string> ops{options.op};
  if (options.op == "all") ops = op_names();
  for (const std::string& op : ops) require_adapter(op);
  Ledger ledger(ledger_path());
  nlohmann::ordered_json json = environment_json();
  json["ledger"] = ledger_path().string();
  json["changed"] = nlohmann::ordered_json::array();
  for (const std::string& op : ops) {
    for (const std::string& name : ledger.accept(op, passing_digests(op, common), user_name(), today(), options.why)) {
      json["changed"].push_back({{"op", op}, {"case", name}});
    }
  }
  ledger.save();
  if (common.json) {
    fmt::print("{}\n", json.dump(1));
    return kPass;
  }
  for (const auto& one : json["changed"]) fmt::print("{} {}\n", one["op"].get<std::string>(), one["case"].get<std::string>());
  fmt::print("{} digests changed in {}\n", json["changed"].size(), ledger_path().string());
  return kPass;
}

int show(const LedgerOptions& options, const Common& common) {
  const Ledger ledger(ledger_path());
  if (!options.op.empty()) require_adapter(options.op);
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
    fmt::print("{}\n", json.dump(1));
  } else {
    fmt::print("{}\n{}", digests.render(common.style()), accepted.render(common.style()));
  }
  return kPass;
}

}  // namespace

Action add_ledger(CLI::App& app, const Common& common) {
  auto options = std::make_shared<LedgerOptions>();
  CLI::App* command = app.add_subcommand("ledger", "The accepted digests of every golden case");
  command->require_subcommand(1);
  command->footer("Example: assay ledger accept rms_norm --why \"sums of squares in four chains\"");
  CLI::App* show_command = command->add_subcommand("show", "Digests, and who accepted them and why");
  show_command->add_option("op", options->op, "Only this op");
  show_command->footer("Example: assay ledger show rms_norm");
  CLI::App* accept_command = command->add_subcommand("accept", "Take the present digests of an op, if it passes all else");
  accept_command->add_option("op", options->op, "The op, or 'all'")->required();
  accept_command->add_option("--why", options->why, "The reason, for those who read the diff")->required();
  accept_command->footer("Example: assay ledger accept rms_norm --why \"sums of squares in four chains\"");
  return
      [options, &common, accept_command] { return accept_command->parsed() ? accept(*options, common) : show(*options, common); };
}

}  // namespace assay::cli
