// --plugin, --runner, --time-limit, --isolation and --declare, as several commands take them.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/interop/remote/remote_runner.h"
#include "kernels/isa.h"

namespace assay::cli {

// `given`, then those of ASSAY_PLUGINS (separated by colons).
std::vector<std::string> plugin_paths(const std::vector<std::string>& given);

struct RunnerCliOptions {
  std::vector<std::string> plugins;
  std::string command;
  double limit_seconds = static_cast<double>(kDefaultLimit.count()) / 1000;

  std::string isolation = "auto";
  bool allow_fork = false;
  std::vector<std::string> allow_read;
  std::string declared;

  void add_to(CLI::App& app);          // all of them
  void add_plugins_to(CLI::App& app);  // without --runner: for commands that run kernels here
  void add_fork_to(CLI::App& app);     // not for what is timed: the time of other processes would not count
  void add_declare_to(CLI::App& app);
  // Empty: neither a plugin nor a runner is named. A plugin that is to be loaded on this machine gets its absolute path.
  std::optional<RunnerOptions> options() const;
};

// --isa, repeatable or joined by commas.
void add_isas(CLI::App& app, std::vector<std::string>& isas);
// Those named, or that of ASSAY_ISA: of this CPU, unless kernels run elsewhere. Empty: all.
std::vector<Isa> wanted_isas(const std::vector<std::string>& names, bool elsewhere);

}  // namespace assay::cli
