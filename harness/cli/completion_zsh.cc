#include <fmt/format.h>

#include "harness/cli/option_table.h"

namespace assay::cli {
namespace {

// For text between single quotes in a specification of _arguments, where brackets and colons mean something.
std::string zsh_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string zsh_value(const OptionInfo& option) {
  const std::string name = option.placeholder;
  switch (option.kind) {
    case ValueKind::words:
      return fmt::format(":{}:({})", name, fmt::join(option.words, " "));
    case ValueKind::word_list:
      return fmt::format(":{}: _values -s , {} {}", name, name, fmt::join(option.words, " "));
    case ValueKind::folder:
      return fmt::format(":{}:_files -/", name);
    case ValueKind::file:
      return option.suffix.empty() ? fmt::format(":{}:_files", name) : fmt::format(":{}:_files -g \"*{}\"", name, option.suffix);
    case ValueKind::text:
      return fmt::format(":{}: ", name);
    default:
      return "";
  }
}

std::string specifications(const std::vector<OptionInfo>& options) {
  std::string out;
  for (const OptionInfo& option : options) {
    for (const std::string& name : option.names) {
      out += fmt::format(" \\\n    '{}[{}]{}'", name, zsh_escaped(option.description), zsh_value(option));
    }
  }
  return out;
}

std::string function_name(const CommandInfo& command) {
  std::string name = "_" + command.path;
  for (char& c : name) {
    if (c == ' ') c = '_';
  }
  return name;
}

// A command with commands below it hands over to theirs.
std::string dispatch(const CommandInfo& command) {
  std::string names;
  std::string cases;
  for (const CommandInfo& below : command.commands) {
    names += fmt::format(" '{}:{}'", below.name, zsh_escaped(below.description));
    cases += fmt::format("        {}) {} ;;\n", below.name, function_name(below));
  }
  return fmt::format(
      "  case $state in\n    command)\n      local -a commands=({} )\n      _describe command commands ;;\n    rest)\n      case "
      "$line[1] in\n{}      esac ;;\n  esac\n",
      names, cases);
}

std::string function(const CommandInfo& command, const CommandInfo& top) {
  std::string out = function_name(command) + "() {\n";
  const bool has_commands = !command.commands.empty();
  if (has_commands) out += "  local curcontext=$curcontext state line\n  typeset -A opt_args\n";
  out += fmt::format("  _arguments{}{}", has_commands ? " -C" : "", specifications(command.options));
  if (&command != &top) {
    for (const OptionInfo& option : top.options) {
      if (option.names.back() != "--help") out += specifications({option});
    }
  }
  for (const OptionInfo& positional : command.positionals) {
    out += fmt::format(" \\\n    '{}{}'", positional.repeated ? "*" : "", zsh_value(positional));
  }
  if (has_commands) out += " \\\n    '1: :->command' '*:: :->rest'";
  return out + "\n" + (has_commands ? dispatch(command) : "") + "}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandInfo& top) {
  std::string out = "#compdef assay\n# zsh completion for assay, printed by `assay completion zsh`.\n\n";
  for_each_command(top, [&](const CommandInfo& command) { out += function(command, top); });
  return out + "if [[ $funcstack[1] == _assay ]]; then\n  _assay \"$@\"\nelse\n  compdef _assay assay\nfi\n";
}

}  // namespace assay::cli
