#include "harness/forensics/reduce/failing_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "golden/atomic_file.h"
#include "golden/output_rule.h"
#include "harness/cli/check_options.h"
#include "harness/cli/cli.h"
#include "harness/cli/late_file.h"
#include "harness/cli/process.h"
#include "harness/cli/status_line.h"
#include "harness/cli/values.h"
#include "harness/forensics/extract/extract.h"
#include "harness/forensics/reduce/case_c.h"
#include "harness/reports/report.h"
#include "harness/verdict/shell.h"
#include "harness/verdict/trials.h"

namespace assay::cli {
namespace {

constexpr char kCaseName[] = "reduced";

struct ReduceOptions {
  CheckSelection selection;
  std::string output;
  std::string c;
  std::int64_t calls = 100000;
  double seconds = 120;
};

// What a call is, in a line.
std::string size_text(const CallData& call, const CaseResult& result) {
  return fmt::format("{}: {} numbers that are not 0, {} outputs", call.params.to_string(), nonzero_count(call.inputs),
                     output_count(result));
}

// What was found, and where it stands.
struct Told {
  const CaseResult& found;
  CallData call;  // of it
  Reduction reduction;
  std::string command;  // empty: no golden was written
  std::string test;     // it as a line of CMake
  std::string c;        // likewise
  std::string c_words;
};

void print_text(const Told& told, const ReduceOptions& options) {
  const Reduction& small = told.reduction;
  fmt::print("{}, case {}: {}\n  {}\n  {}\n", variant_label(told.found.op, told.found.variant), told.found.case_name,
             check_name(told.found.failure->check), told.found.failure->message, size_text(told.call, told.found));
  fmt::print("reduced by {} calls in {:.1f} s{}\n  {}\n  {}\n", small.calls, small.seconds,
             small.ended_early ? ", which is all that it may take: it may be smaller still" : "", small.result.failure->message,
             size_text(small.call, small.result));
  if (!told.command.empty())
    fmt::print("{}: case {} of {}\n  {}\n  {}\n", options.output, kCaseName, told.found.op, told.command, told.test);
  if (!options.c.empty()) fmt::print("{}: {}\n", options.c, told.c_words);
}

void print_json(const Told& told, const ReduceOptions& options) {
  nlohmann::ordered_json json = reduction_json(told.found, told.call, told.reduction);
  if (!options.selection.runner.declared.empty()) json["declared"] = options.selection.runner.declared;
  if (!told.command.empty()) {
    json["out"] = options.output;
    json["command"] = told.command;
    json["ctest"] = told.test;
  }
  if (!options.c.empty())
    json["c"] = {{"out", told.c.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.c)}, {"note", told.c_words}};
  fmt::print("{}", json_text(json));
}

// "mine:fast" is named so by its plugin; ours are functions.
std::string kernel_name(const std::string& variant) {
  return variant.substr(variant.find(':') + 1);
}

// None: interrupted.
std::optional<CaseResult> look_for_failing(const CheckRequest& request) {
  StatusLine line;
  return failing_case(
      request, [&line](const std::string& text) { line.show(text); }, [] { return NotedInterrupt::signal() != 0; });
}

Reduction reduce_found(const CaseResult& found, Trials& trials, const CheckRequest& request, const ReduceOptions& options) {
  StatusLine line;
  return reduce_case(found, trials, request,
                     {.most_calls = options.calls,
                      .most_seconds = options.seconds,
                      .progress = [&line](const std::string& text) { line.show(text); },
                      .stop = [] { return NotedInterrupt::signal() != 0; }});
}

void write_golden(Told& told, const Op& op, const Candidate& candidate, const ReduceOptions& options) {
  const std::string source = fmt::format("{} of {}, reduced", told.found.case_name, candidate.name);
  write_case(options.output, {told.found.op, golden_of(op, told.reduction, kCaseName)},
             {"assay reduce", source, "as its source"});
  const auto command = [&](const std::string& golden) {
    return fmt::format("assay check {} {} --golden {}", op.name, candidate.selection, quoted(golden));
  };
  told.command = command(options.output);
  // ctest runs it elsewhere; CMake's quotes are other ones.
  std::string words = command(std::filesystem::absolute(options.output).string());
  std::ranges::replace(words, '\'', '"');
  told.test = fmt::format("add_test(NAME {}.{} COMMAND {})", kCaseName, op.name, words);
}

int run_reduce(ReduceOptions options, const Common& common) {
  const CheckRequest request = reducible(request_of(options.selection));
  const Op& op = require_op(request.ops.front());
  LateFile c(options.c, "a text of assay");
  if (!options.output.empty()) NewFile(options.output, kHdf5File);  // whether it may be written, before the work
  const NotedInterrupt interrupt;
  const std::optional<CaseResult> failing = look_for_failing(request);
  if (!failing) return kSignalled + NotedInterrupt::signal();
  const CaseResult& found = *failing;
  std::vector<Skip> skips;
  Trials trials(request, skips);
  Told told{found, call_of(found), reduce_found(found, trials, request, options), {}, {}, {}, {}};
  const Candidate& candidate = *std::ranges::find(trials.of(op), found.variant, &Candidate::name);
  if (!options.output.empty()) write_golden(told, op, candidate, options);
  if (!options.c.empty()) {
    const std::string why_not = not_in_c(op, *told.reduction.result.failure);
    if (why_not.empty()) {
      told.c = case_in_c(op, told.reduction, candidate, kernel_name(candidate.name));
      c.write([&] { return told.c; });
    }
    told.c_words = why_not.empty() ? "its first lines say how it is compiled and run" : "not written: " + why_not;
  }
  common.json ? print_json(told, options) : print_text(told, options);
  return kParityFailure;
}

}  // namespace

Action add_reduce(CLI::App& app, const Common& common) {
  auto options = std::make_shared<ReduceOptions>();
  CLI::App* command = app.add_subcommand(
      "reduce", "Find the smallest call that a kernel still fails, and write it as a golden case or a C program");
  add_selection(*command, options->selection, "The op")->required()->expected(1);
  command->add_option("-o,--output", options->output, "Write it as a golden file");
  command->add_option("--c", options->c, "Write it as one file of C that needs nothing of Assay");
  command->add_option("--calls", options->calls, "Calls of the kernel that the search may take, by default 100000")
      ->check(whole(1));
  command->add_option("--seconds", options->seconds, "Seconds that the search may take, by default 120")->check(above_zero());
  command->footer("Example: assay reduce rms_norm --plugin mine.so -o case.h5 --c case.c");
  return [options, &common] { return run_reduce(*options, common); };
}

}  // namespace assay::cli
