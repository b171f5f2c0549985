#include <fmt/format.h>

#include <memory>

#include "golden/atomic_file.h"
#include "harness/cli/cli.h"
#include "harness/cli/option_table.h"
#include "harness/cli/values.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

struct CompletionOptions {
  std::string what;
  std::string output;
};

const char* kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::none:
      return "";
    case ValueKind::text:
      return "text";
    case ValueKind::words:
    case ValueKind::word_list:
      return "words";
    case ValueKind::folder:
    case ValueKind::file:
      return "file";
  }
  return "";
}

nlohmann::ordered_json options_json(const std::vector<OptionInfo>& options) {
  auto json = nlohmann::ordered_json::array();
  for (const OptionInfo& one : options) {
    json.push_back({{"names", one.names},
                    {"description", one.description},
                    {"value", one.placeholder},
                    {"kind", one.number.empty() ? kind_name(one.kind) : one.number},
                    {"words", one.words},
                    {"required", one.required},
                    {"repeated", one.repeated}});
  }
  return json;
}

std::string printed(const CommandInfo& top, const std::string& what) {
  if (what == "bash") return bash_completion(top);
  if (what == "zsh") return zsh_completion(top);
  return what == "fish" ? fish_completion(top) : man_page(top);
}

}  // namespace

nlohmann::ordered_json table_json(const CommandInfo& top, const std::string& path) {
  nlohmann::ordered_json json = environment_json();
  for_each_command(top, [&](const CommandInfo& command) {
    if (command.path != path && !command.path.starts_with(path + " ")) return;
    json["commands"].push_back({{"command", command.path},
                                {"description", command.description},
                                {"positionals", options_json(command.positionals)},
                                {"options", options_json(command.options)}});
  });
  return json;
}

Action add_completion(CLI::App& app, const Common& common) {
  auto options = std::make_shared<CompletionOptions>();
  CLI::App* command = app.add_subcommand("completion", "Print shell completions or the man page");
  command->add_option("what", options->what, "The shell, or man")->required()->check(one_of({"bash", "zsh", "fish", "man"}));
  command->add_option("-o,--output", options->output, "A file to write instead of standard output");
  command->footer("Example: source <(assay completion bash)");
  return [options, &app, &common] {
    const CommandInfo top = command_table(app);
    const std::string text = common.json ? json_text(table_json(top, top.path)) : printed(top, options->what);
    if (options->output.empty()) {
      fmt::print("{}", text);
    } else {
      write_file_atomically(options->output, text);
    }
    return kPass;
  };
}

}  // namespace assay::cli
