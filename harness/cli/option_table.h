// The program's commands and options as plain data, read off the parser: what completions and the man page are made of.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace assay::cli {

// What a value is, where it is not one of a few words.
enum class ValueKind : std::uint8_t { none, text, words, word_list, folder, file };

struct OptionInfo {
  std::vector<std::string> names;  // "--isa", "-o"; a positional has its bare name alone
  std::string description;
  std::string placeholder;  // "ISA"; empty: the option takes no value
  ValueKind kind = ValueKind::none;
  std::string number;              // whole, seed or real, of a value that is one; else empty
  std::vector<std::string> words;  // of words and word_list (which are joined by commas)
  std::string suffix;              // of file: ".h5"; empty: any
  bool required = false;
  bool repeated = false;
};

struct CommandInfo {
  std::string path;  // "assay ledger show"
  std::string name;
  std::string description;
  std::string footer;
  std::vector<OptionInfo> options;
  std::vector<OptionInfo> positionals;
  std::vector<CommandInfo> commands;
};

CommandInfo command_table(const CLI::App& app);
// Of an option of the command of that name.
OptionInfo option_info(const CLI::Option& option, const std::string& command);

// Calls visit(command) for `top` and all below it.
template <class Visit>
void for_each_command(const CommandInfo& top, const Visit& visit) {
  visit(top);
  for (const CommandInfo& command : top.commands) for_each_command(command, visit);
}

// As --json has them: the command of that path and those below it.
nlohmann::ordered_json table_json(const CommandInfo& top, const std::string& path);

// Each prints a whole file.
std::string bash_completion(const CommandInfo& top);
std::string zsh_completion(const CommandInfo& top);
std::string fish_completion(const CommandInfo& top);
std::string man_page(const CommandInfo& top);

}  // namespace assay::cli
