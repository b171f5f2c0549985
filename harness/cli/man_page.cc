#include <fmt/format.h>

#include "harness/cli/option_table.h"
#include "harness/verdict/suite.h"
#include "harness/version.h"

namespace assay::cli {
namespace {

// Text for roff: a backslash and a minus sign are spelt out, and no line begins with a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string synopsis(const CommandInfo& command) {
  std::string out = "\\fB" + roff(command.path) + "\\fR";
  if (!command.commands.empty()) out += " \\fICOMMAND\\fR";
  for (const OptionInfo& positional : command.positionals) {
    const std::string name = "\\fI" + positional.placeholder + "\\fR" + (positional.repeated ? "..." : "");
    out += positional.required ? " " + name : " [" + name + "]";
  }
  return out + " [\\fIOPTION\\fR...]";
}

std::string option_entry(const OptionInfo& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  if (!option.names.front().starts_with('-'))
    names = "\\fI" + option.placeholder + "\\fR";
  else if (!option.placeholder.empty())
    names += " \\fI" + option.placeholder + "\\fR";
  std::string out = ".TP\n" + names + "\n" + roff(option.description) + ".";
  // The ops have a section of their own, and some descriptions name the words themselves.
  const bool named = !option.words.empty() && option.description.find(option.words.front()) != std::string::npos;
  if (option.words.empty() || named || option.names.front() == "op") return out + "\n";
  return out + roff(fmt::format(" One of {}.", fmt::join(option.words, ", "))) + "\n";
}

std::string entries(const CommandInfo& command) {
  std::string out;
  for (const OptionInfo& positional : command.positionals) out += option_entry(positional);
  for (const OptionInfo& option : command.options) {
    if (option.names.back() != "--help") out += option_entry(option);
  }
  return out;
}

std::string section(const CommandInfo& command) {
  std::string out =
      fmt::format(".SS {}\n{}\n.PP\n{}.\n{}", roff(command.path), synopsis(command), roff(command.description), entries(command));
  if (!command.footer.empty()) out += ".PP\n" + roff(command.footer) + "\n";
  return out;
}

constexpr const char* kTail = R"(.SH ENVIRONMENT
.TP
.B ASSAY_ISA
The best instruction set that may be used; an unknown one, or one that this CPU lacks, is an error.
.TP
.B ASSAY_CHECKS
What \fB\-\-checks\fR is where it is not given.
.TP
.B ASSAY_DATA
The folder that holds golden/; else share/assay beside the program's bin/, else the source tree that the program was built in.
.TP
.B NO_COLOR
If set and not empty: no colours, unless \fB\-\-color always\fR.
.SH FILES
\fIgolden/\fR and \fIdocs/\fR of examples are share/assay/golden and share/doc/assay/docs beside the program's bin/; \-\-help prints them as they lie.
.SH EXIT STATUS
0: passed. 1: a kernel failed, or two traces part. 2: wrong use, or input that cannot be read.
)";

}  // namespace

std::string man_page(const CommandInfo& top) {
  std::string description = top.description;
  if (description.ends_with('.')) description.pop_back();
  std::string out = fmt::format(".TH ASSAY 1 \"\" \"assay {}\" \"User Commands\"\n.SH NAME\nassay \\- {}\n.SH SYNOPSIS\n",
                                kVersion, roff(description));
  out += synopsis(top) +
         "\n.SH OPTIONS\nUnderstood by every command.\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nSay more of the program, or of a "
         "command.\n";
  out += entries(top) + ".SH COMMANDS\n";
  for_each_command(top, [&](const CommandInfo& command) {
    if (&command != &top) out += section(command);
  });
  return out + fmt::format(".SH OPS\n{}.\n", roff(fmt::format("{}", fmt::join(op_names(), ", ")))) + kTail;
}

}  // namespace assay::cli
