// What `assay check` is asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/runner_options.h"
#include "harness/verdict/suite.h"

namespace assay::cli {

// Which cases of which kernels, and how they are held: what a run that repeats another has alike.
struct CheckSelection {
  std::vector<std::string> ops;
  std::vector<std::string> isas;
  std::string case_name;
  std::string tag;
  std::string golden;
  std::string shape;
  std::string data;
  std::string checks;
  std::string variant;
  std::string ledger;
  RunnerCliOptions runner;
  std::optional<std::uint64_t> seed;
  std::int64_t cases = 0;
  bool any_length = false;
};

// The op, which cases and kernels, and how they are held. Who keeps a ledger adds --ledger.
// Returns the option of the ops, which `ops` describes.
CLI::Option* add_selection(CLI::App& command, CheckSelection& selection, const std::string& ops);

// What they ask for. The names that stand for what was not said are in `selection` afterwards: the seed, and what the environment asks for.
CheckRequest request_of(CheckSelection& selection, const std::string& shard = {});

}  // namespace assay::cli
