// What the commands that run a model have in common: which model, how much of it, by which kernels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/run/engine.h"
#include "harness/cli/cli.h"

namespace assay::cli {

struct ModelOptions {
  std::string model;  // empty: the embedded one
  std::int64_t context = 0;
  std::int64_t chunk = 512;
  std::int64_t window = 0;
  std::string kv = "contiguous";
  std::string kv_type = "f32";
  std::string rope = "f64";
  int threads = 0;
  std::vector<std::string> kernels;  // SITE_GLOB=ISA, =reference or =PLUGIN:KERNEL
  std::vector<std::string> plugins;  // shared libraries, beside those that ASSAY_PLUGINS names
};

// MODEL, which may be left out, --context, --chunk, --window, --kv, --kv-type and --rope: what a plan depends on.
void add_plan_options(CLI::App& command, ModelOptions& options);
// The same, --threads, --kernel and --plugin.
void add_model_options(CLI::App& command, ModelOptions& options);

// --threads: at most kMostThreads; 0: one a core.
inline constexpr int kMostThreads = 1024;
void add_threads_option(CLI::App& command, int& threads);

std::filesystem::path model_path(const ModelOptions& options);
PlanOptions plan_options(const ModelOptions& options);
EngineOptions engine_options(const ModelOptions& options);

}  // namespace assay::cli
