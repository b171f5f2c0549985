#include <fmt/format.h>

#include "harness/cli/option_table.h"

namespace assay::cli {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// What completes a value: -x takes no file names, -r does.
std::string fish_value(const OptionInfo& option) {
  const std::string words = fmt::format("{}", fmt::join(option.words, " "));
  switch (option.kind) {
    case ValueKind::words:
      return " -x -a '" + words + "'";
    case ValueKind::word_list:
      return " -x -a '(__fish_append , " + words + ")'";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::file:
      return option.suffix.empty() ? " -r -F" : " -x -a '(__fish_complete_suffix " + option.suffix + ")'";
    case ValueKind::text:
      return " -x";
    default:
      return "";
  }
}

std::string option_line(const std::string& condition, const OptionInfo& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return fmt::format("complete -c assay{}{}{} -d {}\n", condition, names, fish_value(option), fish_quoted(option.description));
}

// True when the words typed so far hold each word of the path.
std::string seen(const std::string& path) {
  std::string out;
  for (std::size_t begin = path.find(' '); begin != std::string::npos;) {
    const std::size_t end = path.find(' ', begin + 1);
    out += (out.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from" + path.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

std::string lines(const CommandInfo& command, const CommandInfo& top) {
  std::string out;
  const bool is_top = &command == &top;
  const std::string here = is_top ? "" : seen(command.path);
  std::string names;
  for (const CommandInfo& below : command.commands) names += " " + below.name;
  for (const CommandInfo& below : command.commands) {
    const std::string condition = is_top ? "__fish_use_subcommand" : here + "; and not __fish_seen_subcommand_from" + names;
    out += fmt::format("complete -c assay -n '{}' -a {} -d {}\n", condition, below.name, fish_quoted(below.description));
  }
  const std::string condition = is_top ? "" : " -n '" + here + "'";
  for (const OptionInfo& option : command.options) {
    if (is_top || option.names.back() != "--help") out += option_line(condition, option);
  }
  for (const OptionInfo& positional : command.positionals) out += "complete -c assay" + condition + fish_value(positional) + "\n";
  return out;
}

}  // namespace

std::string fish_completion(const CommandInfo& top) {
  std::string out = "# fish completion for assay, printed by `assay completion fish`.\ncomplete -c assay -f\n";
  for_each_command(top, [&](const CommandInfo& command) { out += lines(command, top); });
  return out;
}

}  // namespace assay::cli
