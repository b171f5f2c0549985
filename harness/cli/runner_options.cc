#include "harness/cli/runner_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "harness/cli/shape.h"
#include "harness/cli/values.h"

namespace assay::cli {

std::vector<std::string> plugin_paths(const std::vector<std::string>& given) {
  std::vector<std::string> paths = given;
  const char* more = std::getenv("ASSAY_PLUGINS");
  std::string list = more == nullptr ? "" : more;
  while (!list.empty()) {
    const std::size_t colon = std::min(list.find(':'), list.size());
    const std::string one = list.substr(0, colon);
    if (colon > 0 && std::ranges::find(paths, one) == paths.end()) paths.push_back(one);
    list.erase(0, colon + 1);
  }
  return paths;
}

void RunnerCliOptions::add_to(CLI::App& app) {
  add_plugins_to(app);
  add_fork_to(app);
  app.add_option("--runner", command, "The command that starts assay-runner elsewhere, such as 'ssh board assay-runner'");
}

void RunnerCliOptions::add_plugins_to(CLI::App& app) {
  app.add_option("--plugin", plugins, "A shared library of kernels (docs/your-kernel.md); repeatable, also ASSAY_PLUGINS")
      ->allow_extra_args(false);
  app.add_option("--time-limit", limit_seconds, "Seconds that a call may take in the runner")->check(above_zero());
  app.add_option("--isolation", isolation,
                 "How to confine the plugin's process (docs/runner.md): auto, by all that this system offers; required, the same "
                 "or an error; none")
      ->check(one_of({"auto", "required", "none"}));
  app.add_option("--allow-read", allow_read, "A file or folder that a plugin may read; repeatable")->allow_extra_args(false);
}

void RunnerCliOptions::add_fork_to(CLI::App& app) {
  app.add_flag("--allow-fork", allow_fork, "A plugin may start new processes");
}

void RunnerCliOptions::add_declare_to(CLI::App& app) {
  app.add_option(
      "--declare", declared,
      "What the plugins' kernels do differently from ours, such as 'order=free;nan=no' (docs/declaring.md): added to, or "
      "in place of, what they declare");
}

std::optional<RunnerOptions> RunnerCliOptions::options() const {
  RunnerOptions options;
  options.command = command;
  options.plugins = plugin_paths(plugins);
  if (!declared.empty() && options.plugins.empty())
    throw std::invalid_argument("--declare is of plugins' kernels: name a plugin by --plugin");
  options.declared = declared.empty() || declared.ends_with(';') ? declared : declared + ";";
  try {
    Traits::parse(options.declared.c_str());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--declare: {}", error.what()));
  }
  if (options.command.empty() && options.plugins.empty()) return std::nullopt;
  if (options.command.empty()) {
    for (std::string& path : options.plugins) path = std::filesystem::absolute(path).string();
  }
  using Wish = IsolationRequest::Wish;
  options.isolation.wish = isolation == "none" ? Wish::none : isolation == "required" ? Wish::required : Wish::automatic;
  options.isolation.allow_fork = allow_fork;
  options.isolation.readable = allow_read;
  options.limit = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(limit_seconds * 1000)));
  return options;
}

void add_isas(CLI::App& app, std::vector<std::string>& isas) {
  app.add_option("--isa", isas, "Only variants of this ISA; repeatable, or several joined by commas")->allow_extra_args(false);
}

std::vector<Isa> wanted_isas(const std::vector<std::string>& names, bool elsewhere) {
  std::vector<Isa> isas;
  for (const std::string& list : names) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string name = list.substr(begin, end - begin);
      isas.push_back(elsewhere ? known_isa(name) : require_isa(name));
      begin = end + 1;
    }
  }
  const std::optional<Isa> forced = forced_isa();
  if (names.empty() && forced) isas.push_back(*forced);
  return isas;
}

}  // namespace assay::cli
