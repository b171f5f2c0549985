#include "harness/cli/option_table.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "engine/convert/known_shapes.h"
#include "engine/convert/target.h"
#include "golden/generate.h"
#include "harness/verdict/checks.h"
#include "harness/verdict/coincidences.h"
#include "harness/verdict/suite.h"
#include "kernels/isa.h"

namespace assay::cli {
namespace {

template <class Names>
std::vector<std::string> strings(const Names& names) {
  return {names.begin(), names.end()};
}

std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (const IsaRow& row : kIsas) names.emplace_back(row.name);
  return names;
}

// The words of CLI::IsMember, which the parser keeps only as text: "TEXT:{auto,always,never}".
std::vector<std::string> member_words(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos) return words;
  for (std::size_t begin = open + 1; begin <= close;) {
    const std::size_t end = std::min(type.find(',', begin), close);
    words.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Of an option whose value is a file: how its name ends; empty: in any way.
std::optional<std::string> file_suffix(const std::string& name, const std::string& command) {
  if (name == "dump") return command == "npz" || command == "safetensors" ? "." + command : ".h5";
  if (name == "file" || name == "ours" || name == "theirs" || name == "against" || name == "beside" || name == "input" ||
      name == "trace")
    return ".h5";
  if (name == "golden") return ".h5";
  if (name == "baseline" || name == "ledger" || name == "map" || name == "report" || name == "bench" || name == "record")
    return ".json";
  if (name == "html" || name == "svg") return "." + name;
  if (name == "plugin" || name == "baseline-plugin") return ".so";
  if (name == "junit") return ".xml";
  if (name == "summary") return ".md";
  if (name == "c") return ".c";
  if (name == "output" || name == "model" || name == "sarif" || name == "allow-read") return "";
  return std::nullopt;
}

bool is_folder(const std::string& name, const std::string& command) {
  return (name == "c" && command == "plan") ||
         (name == "golden" && (command == "check" || command == "explain" || command == "reduce"));
}

// What the value of an option is; the same name means the same in every command.
void describe_value(OptionInfo& info, const std::string& name, const std::string& command, const std::string& type) {
  info.placeholder = upper(name);
  info.words = member_words(type);
  info.kind = info.words.empty() ? ValueKind::text : ValueKind::words;
  if (name == "op") {
    info.kind = ValueKind::words;
    info.words = op_names();
    if (command == "accept") info.words.emplace_back("all");
  } else if (name == "isa") {
    info.kind = ValueKind::words;
    info.words = isa_names();
  } else if (name == "data") {
    info.kind = ValueKind::words;
    info.words = strings(distribution_names());
    info.words.emplace_back("underflow");
    info.words.emplace_back(kCoincidences);
  } else if (name == "checks") {
    info.kind = ValueKind::word_list;
    info.words = strings(kCheckNames);
  } else if (name == "type") {
    info.kind = ValueKind::words;
    for (const Target& target : targets()) info.words.emplace_back(target.name);
  } else if (name == "like") {
    info.kind = ValueKind::words;
    info.words = strings(known_shapes());
  } else if (is_folder(name, command)) {
    info.kind = ValueKind::folder;
  } else if (const auto suffix = file_suffix(name, command)) {
    info.kind = ValueKind::file;
    info.suffix = *suffix;
  }
}

CommandInfo command_info(const CLI::App& app, const std::string& path) {
  CommandInfo info;
  info.path = path;
  info.name = app.get_name();
  info.description = app.get_description();
  info.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    auto& list = option->get_positional() ? info.positionals : info.options;
    list.push_back(option_info(*option, info.name));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    info.commands.push_back(command_info(*command, path + " " + command->get_name()));
  }
  return info;
}

}  // namespace

OptionInfo option_info(const CLI::Option& option, const std::string& command) {
  OptionInfo info;
  info.description = option.get_description();
  info.required = option.get_required();
  info.repeated = option.get_items_expected_max() > 1;
  if (option.get_positional()) {
    info.names = {option.get_name(true, false)};
  } else {
    for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() == 0) return info;
  const std::string type = option.get_type_name();
  info.number = type == "UINT" ? "seed" : type == "INT" ? "whole" : type == "FLOAT" ? "real" : "";
  const std::string& last = info.names.back();
  describe_value(info, last.starts_with("--") ? last.substr(2) : last, command, option.get_type_name());
  return info;
}

CommandInfo command_table(const CLI::App& app) {
  return command_info(app, app.get_name());
}

}  // namespace assay::cli
