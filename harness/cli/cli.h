// The program's commands. Each adds its options to the parser and says what to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>  // every command prints it
#include <string>

#include "harness/reports/style.h"

namespace assay::cli {

inline constexpr int kPass = 0;
inline constexpr int kParityFailure = 1;
inline constexpr int kWrongUse = 2;
inline constexpr int kSignalled = 128;  // and the signal's number

// Options of every command.
struct Common {
  std::string color = "auto";
  bool json = false;
  bool force = false;
  Style style() const { return Style::from_mode(color); }
};

// What main() calls once the options are read; returns the exit code.
using Action = std::function<int()>;

Action add_list(CLI::App& app, const Common& common);
Action add_check(CLI::App& app, const Common& common);
Action add_bench(CLI::App& app, const Common& common);
Action add_verify(CLI::App& app, const Common& common);
Action add_diff(CLI::App& app, const Common& common);
Action add_order(CLI::App& app, const Common& common);
Action add_inspect(CLI::App& app, const Common& common);
Action add_eval(CLI::App& app, const Common& common);
Action add_quantize(CLI::App& app, const Common& common);
Action add_synth(CLI::App& app, const Common& common);
Action add_run(CLI::App& app, const Common& common);
Action add_plan(CLI::App& app, const Common& common);
Action add_audit(CLI::App& app, const Common& common);
Action add_attribute(CLI::App& app, const Common& common);
Action add_bisect(CLI::App& app, const Common& common);
Action add_trace(CLI::App& app, const Common& common);
Action add_extract(CLI::App& app, const Common& common);
Action add_reduce(CLI::App& app, const Common& common);
Action add_explain(CLI::App& app, const Common& common);
Action add_import(CLI::App& app, const Common& common);
Action add_report(CLI::App& app, const Common& common);
Action add_new_plugin(CLI::App& app, const Common& common);
Action add_ledger(CLI::App& app, const Common& common);
Action add_completion(CLI::App& app, const Common& common);

// What `assay` prints when nothing is asked of it.
std::string first_words();

}  // namespace assay::cli
