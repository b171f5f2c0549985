#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "golden/output_rule.h"
#include "golden/store.h"
#include "harness/cli/cli.h"
#include "harness/cli/option_table.h"
#include "harness/cli/process.h"
#include "harness/cli/shipped.h"
#include "harness/cli/values.h"
#include "harness/reports/report.h"
#include "harness/verdict/nearest.h"
#include "harness/version.h"
#include "kernels/isa.h"

namespace assay::cli {
namespace {

std::string version_text() {
  return fmt::format("assay {} ({})\ncompiler {}, {}\nISAs of this CPU: {}\ngolden schema {}", kVersion, kCommit, kCompiler,
                     kBuildType, supported_isa_names(), kGoldenSchema);
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// The option that `name` means after `command`; those of the program itself are understood everywhere.
const CLI::Option* find_option(const CLI::App& app, const CLI::App& command, const std::string& name) {
  const CLI::Option* own = command.get_option_no_throw(name);
  return own != nullptr ? own : app.get_option_no_throw(name);
}

std::string unknown_option(const CLI::App& app, const CLI::App& command, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* one : {&command, &app}) {
    for (const CLI::Option* option : one->get_options()) {
      for (const std::string& long_name : option->get_lnames()) {
        if (find_option(*one, command, "--" + long_name) == option) known.push_back("--" + long_name);
      }
    }
  }
  return unknown_name("option", name, known);
}

// Before the parser complains of an unknown command or option, name the nearest.
std::string nearest_hint(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;
    if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      const CLI::Option* option = find_option(app, *command, word.substr(0, equals));
      if (option == nullptr) return unknown_option(app, *command, word.substr(0, equals));
      if (option->get_items_expected_max() > 0 && equals == std::string::npos) ++i;  // its value
      continue;
    }
    const auto commands = commands_of(*command);
    if (word.starts_with('-') || commands.empty()) continue;
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == word; });
    if (found == commands.end()) {
      std::vector<std::string> known;
      for (const CLI::App* one : commands) known.push_back(one->get_name());
      return unknown_name(command == &app ? "command" : command->get_name() + " command", word, known);
    }
    command = *found;
  }
  return {};
}

// `assay help ledger show`.
Action add_help(CLI::App& app, const Common& common) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Show what a command does, and its options");
  command->add_option("command", *words, "The command, such as check or ledger show; none: all of them");
  command->footer("Example: assay help check");
  return [words, &app, &common] {
    const CLI::App* found = &app;
    std::string path = app.get_name();
    for (const std::string& word : *words) {
      std::vector<std::string> known;
      const CLI::App* next = nullptr;
      for (const CLI::App* one : commands_of(*found)) {
        known.push_back(one->get_name());
        if (one->get_name() == word) next = one;
      }
      if (next == nullptr) throw std::invalid_argument(unknown_name("command", word, known));
      path += " " + word;
      found = next;
    }
    if (common.json) {
      fmt::print("{}", json_text(table_json(command_table(app), path)));
      return kPass;
    }
    // App::help() gives that of the command in use.
    fmt::print("{}", with_shipped_paths(app.get_formatter()->make_help(found, path, CLI::AppFormatMode::Normal)));
    return kPass;
  };
}

int run(int argc, char** argv) {
  CLI::App app("A parity bench for CPU LLM-inference kernels.", "assay");
  app.footer("Example: assay check rms_norm --isa avx2");
  Common common;
  app.set_version_flag("-V,--version", version_text());
  app.add_option("--color", common.color, "Colours: auto, always or never")->check(one_of({"auto", "always", "never"}));
  app.add_flag("--json", common.json, "Print JSON instead of text");
  app.add_flag("--force", common.force, "Overwrite any file, even an input or one of another kind");
  app.fallthrough();
  app.require_subcommand(0, 1);

  std::map<std::string, Action> actions;
  actions["list"] = add_list(app, common);
  actions["check"] = add_check(app, common);
  actions["bench"] = add_bench(app, common);
  actions["verify"] = add_verify(app, common);
  actions["diff"] = add_diff(app, common);
  actions["order"] = add_order(app, common);
  actions["inspect"] = add_inspect(app, common);
  actions["eval"] = add_eval(app, common);
  actions["quantize"] = add_quantize(app, common);
  actions["synth"] = add_synth(app, common);
  actions["run"] = add_run(app, common);
  actions["plan"] = add_plan(app, common);
  actions["audit"] = add_audit(app, common);
  actions["attribute"] = add_attribute(app, common);
  actions["bisect"] = add_bisect(app, common);
  actions["trace"] = add_trace(app, common);
  actions["extract"] = add_extract(app, common);
  actions["explain"] = add_explain(app, common);
  actions["reduce"] = add_reduce(app, common);
  actions["import"] = add_import(app, common);
  actions["report"] = add_report(app, common);
  actions["new-plugin"] = add_new_plugin(app, common);
  actions["ledger"] = add_ledger(app, common);
  actions["completion"] = add_completion(app, common);
  actions["help"] = add_help(app, common);
  refuse_odd_values(app);

  const std::string hint = nearest_hint(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app.exit(error, text);
      const bool as_json = std::ranges::count(argv, argv + argc, std::string_view("--json")) > 0;
      const bool version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
      fmt::print("{}", as_json && version ? json_text(environment_json()) : with_shipped_paths(text.str()));
      return kPass;
    }
    throw std::invalid_argument(hint.empty() ? told(app, error) : hint);
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", common.json ? json_text(table_json(command_table(app), app.get_name())) : first_words());
    return kPass;
  }
  const std::string command = app.get_subcommands().front()->get_name();
  if (!common.force) protect_files();
  if (command != "run") leave_nothing_when_interrupted();  // which writes no file, and ends its text first
  return actions.at(command)();
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  return assay::cli::run_process([&] { return assay::cli::run(argc, argv); });
}
