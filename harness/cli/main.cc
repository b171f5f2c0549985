#include <fmt/format.h>

#include <exception>
#include <map>

#include "golden/store.h"
#include "harness/cli/cli.h"
#include "harness/nearest.h"
#include "harness/version.h"
#include "kernels/isa.h"

namespace assay::cli {
namespace {

std::string version_text() {
  return fmt::format("assay {} ({})\ncompiler {}, {}\nISAs of this CPU: {}\ngolden schema {}\n", kVersion, kCommit, kCompiler,
                     kBuildType, supported_isa_names(), kGoldenSchema);
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

// Before the parser complains of an unknown command or option, name the nearest.
std::string nearest_hint(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;
    if (const auto* found = find_command(*command, word)) {
      command = found;
      continue;
    }
    std::vector<std::string> known;
    if (word.starts_with("--")) {
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
      for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
      const std::string name = word.substr(0, word.find('='));
      if (std::find(known.begin(), known.end(), name) == known.end()) return unknown_name("option", name, known);
    } else if (command == &app && !word.starts_with('-')) {
      for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) known.push_back(sub->get_name());
      return unknown_name("command", word, known);
    }
  }
  return {};
}

int fail(const std::string& message) {
  fmt::print(stderr, "assay: {}\n", message);
  return kWrongUse;
}

int run(int argc, char** argv) {
  CLI::App app("A parity bench for the kernels of CPU LLM inference.", "assay");
  app.footer("Example: assay check rms_norm --isa avx2");
  Common common;
  app.set_version_flag("--version", version_text());
  app.add_option("--color", common.color, "Colours: auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--json", common.json, "Print JSON instead of text");
  app.fallthrough();
  app.require_subcommand(0, 1);

  std::map<std::string, Action> actions;
  actions["list"] = add_list(app, common);
  actions["check"] = add_check(app, common);
  actions["bench"] = add_bench(app, common);
  actions["inspect"] = add_inspect(app, common);
  actions["ledger"] = add_ledger(app, common);
  actions["completion"] = add_completion(app, common);

  const std::string hint = nearest_hint(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(hint.empty() ? std::string(error.what()) + "\nTry 'assay --help'." : hint);
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", first_words());
    return kPass;
  }
  return actions.at(app.get_subcommands().front()->get_name())();
}

}  // namespace
}  // namespace assay::cli

// Anything thrown is wrong use or unreadable input: parity failures are values.
int main(int argc, char** argv) {
  try {
    return assay::cli::run(argc, argv);
  } catch (const std::exception& error) {
    return assay::cli::fail(error.what());
  }
}
