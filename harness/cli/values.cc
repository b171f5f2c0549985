#include "harness/cli/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "harness/cli/option_table.h"
#include "harness/verdict/nearest.h"

namespace assay::cli {
namespace {

template <class Number>
bool parse(const std::string& text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

bool is_digits(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "at least 1", "from 1 to 1024"; empty: any.
template <class Number>
std::string range_text(Number least, Number most, bool open = false) {
  const bool any_least = least == std::numeric_limits<Number>::lowest();
  const bool any_most = most == std::numeric_limits<Number>::max() || most == std::numeric_limits<std::int32_t>::max();
  if (any_least && any_most) return "";
  if (any_most) return fmt::format(", {} {}", open ? "above" : "at least", least);
  return open ? fmt::format(", above {} and at most {}", least, most) : fmt::format(", from {} to {}", least, most);
}

CLI::Validator validator(std::string expected, std::function<bool(const std::string&)> fits, std::string description = "") {
  return CLI::Validator([expected = std::move(expected), fits = std::move(fits)](
                            std::string& text) { return fits(text) ? "" : fmt::format("'{}'; expected {}", text, expected); },
                        std::move(description));
}

CLI::Validator seed() {
  return validator("a whole number, from 0 to 18446744073709551615", [](const std::string& text) {
    std::uint64_t value = 0;
    return parse(text, value);
  });
}

CLI::Validator not_empty() {
  return validator("a value that is not empty", [](const std::string& text) { return !text.empty(); });
}

bool names_a_file(const OptionInfo& option) {
  return option.kind == ValueKind::file || option.kind == ValueKind::folder;
}

// One of the words that a table has, or several with commas between them.
CLI::Validator known_words(const OptionInfo& info) {
  static const std::map<std::string, std::string> kKinds{{"--isa", "ISA"}, {"--checks", "check"}, {"--like", "shape"}};
  const std::string& name = info.names.back();
  const auto kind = kKinds.find(name);
  return CLI::Validator(
      [words = info.words, what = kind == kKinds.end() ? name.substr(2) : kind->second](std::string& text) -> std::string {
        for (std::size_t begin = 0; begin <= text.size();) {
          const std::size_t end = std::min(text.find(',', begin), text.size());
          const std::string word = text.substr(begin, end - begin);
          if (std::ranges::find(words, word) == words.end()) return unknown_name(what, word, words);
          begin = end + 1;
        }
        return {};
      },
      "");
}

// What an option of this type may be, beside what its own validator says.
CLI::Validator by_type(const OptionInfo& info) {
  if (info.number == "seed") return seed();
  if (info.number == "whole") return whole(std::numeric_limits<std::int64_t>::lowest(), std::numeric_limits<std::int64_t>::max());
  if (info.number == "real") return real(std::numeric_limits<double>::lowest());
  if (!info.words.empty()) return known_words(info);
  if (names_a_file(info))
    return validator("the name of a file", [](const std::string& text) { return !text.empty() && text != "-"; });
  return not_empty();
}

// Of the command that was typed: a word or an option that it needs, with what it is; or the command below it.
std::string what_is_missing(const CLI::App& app, const std::string& name) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  if (const CLI::Option* option = command->get_option_no_throw(name))
    return fmt::format("{}: {} is missing: {}", command->get_name(), name, option->get_description());
  std::vector<std::string> names;
  for (const CLI::App* one : command->get_subcommands([](const CLI::App*) { return true; })) names.push_back(one->get_name());
  return fmt::format("{}: its command is missing; expected one of {}", command->get_name(), fmt::join(names, ", "));
}

}  // namespace

CLI::Validator whole(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        std::int64_t value = 0;
        const bool read = parse(text, value);
        if (read && value >= least && value <= most) return {};
        const bool above = read ? value > most : is_digits(text);
        return fmt::format("'{}'; expected a whole number{}", text,
                           above ? fmt::format(", at most {}", most) : range_text(least, most));
      },
      "");
}

CLI::Validator real(double least, double most, bool open) {
  return validator("a finite number" + range_text(least, most, open), [=](const std::string& text) {
    double value = 0;
    return parse(text, value) && std::isfinite(value) && value >= least && value <= most && (!open || value > least);
  });
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return validator(
      fmt::format("one of {}", fmt::join(words, ", ")),
      [words](const std::string& text) { return std::ranges::find(words, text) != words.end(); },
      fmt::format("{{{}}}", fmt::join(words, ",")));
}

void refuse_odd_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    const bool word = option->get_positional();  // what it may be its command says, and has patterns
    option->check(word ? not_empty() : by_type(option_info(*option, app.get_name())));
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_odd_values(*command);
}

std::string told(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  const std::string first = text.substr(0, text.find_first_of(" :"));
  const auto last = [&] { return text.substr(text.rfind(' ') + 1); };
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return what_is_missing(app, first);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return first + (text.find("At Most") == std::string::npos ? ": its value is missing" : ": is given twice; expected once");
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {  // of a flag: other values are looked at before
    const std::size_t begin = text.find("--");
    return text.substr(begin, text.find_first_of(" :", begin) - begin) + ": takes no value";
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) return first + " and " + last() + " do not go together";
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) return first + " is of " + last() + ", which is missing";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return "'" + last() + "' is one word too many, or an unknown option";
  return text;
}

}  // namespace assay::cli
