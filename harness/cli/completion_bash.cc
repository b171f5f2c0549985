#include <fmt/format.h>

#include "harness/cli/option_table.h"

namespace assay::cli {
namespace {

// The command is the longest known path among the words before the cursor; bash splits --isa=avx2 into three.
constexpr const char* kHead = R"(# bash completion for assay, printed by `assay completion bash`.
_assay() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=assay word words= options=
  [[ $cur == = ]] && cur=
  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
  COMPREPLY=()
)";

constexpr const char* kBashTail = R"(  [[ $cur == -* ]] && words=$options
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _assay assay
)";

// The statement that completes one value.
std::string reply(const OptionInfo& option) {
  const std::string words = fmt::format("{}", fmt::join(option.words, " "));
  switch (option.kind) {
    case ValueKind::words:
      return fmt::format("mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$cur\")", words);
    case ValueKind::word_list:
      return fmt::format(
          "compopt -o nospace; mapfile -t COMPREPLY < <(compgen -P \"${{cur%\"${{cur##*,}}\"}}\" -W '{}' -- \"${{cur##*,}}\")",
          words);
    case ValueKind::folder:
      return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")";
    case ValueKind::file:
      return fmt::format(
          "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"; compgen -f -X '!*{}' -- \"$cur\")",
          option.suffix);
    default:
      return ":";
  }
}

// Options of the whole program are understood after any command.
std::string value_cases(const CommandInfo& top) {
  std::string out = "  case \"$command $prev\" in\n";
  for_each_command(top, [&](const CommandInfo& command) {
    for (const OptionInfo& option : command.options) {
      if (option.placeholder.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back(&command == &top ? fmt::format("*' {}'", name) : fmt::format("'{} {}'", command.path, name));
      }
      out += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, " | "), reply(option));
    }
  });
  return out + "  esac\n";
}

std::string option_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options) {
    if (option.names.back() != "--help") names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string command_cases(const CommandInfo& top) {
  std::string out = "  case $command in\n";
  for_each_command(top, [&](const CommandInfo& command) {
    out += fmt::format("    '{}')\n      options='--help {}{}'\n", command.path, option_names(command),
                       &command == &top ? "" : " " + option_names(top));
    std::vector<std::string> words;
    for (const CommandInfo& below : command.commands) words.push_back(below.name);
    for (const OptionInfo& positional : command.positionals) {
      words.insert(words.end(), positional.words.begin(), positional.words.end());
      if (positional.words.empty()) out += fmt::format("      [[ $cur != -* ]] && {{ {}; return; }}\n", reply(positional));
    }
    out += fmt::format("      words='{}' ;;\n", fmt::join(words, " "));
  });
  return out + "  esac\n";
}

}  // namespace

std::string bash_completion(const CommandInfo& top) {
  std::vector<std::string> paths;
  for_each_command(top, [&](const CommandInfo& command) {
    if (&command != &top) paths.push_back("'" + command.path + "'");
  });
  return kHead +
         fmt::format(
             "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n    case \"$command $word\" in\n      {}) command+=\" "
             "$word\" ;;\n"
             "    esac\n  done\n",
             fmt::join(paths, " | ")) +
         value_cases(top) + command_cases(top) + kBashTail;
}

}  // namespace assay::cli
