#include "harness/cli/cli.h"

namespace assay::cli {
Action add_bench(CLI::App& app, const Common&) {
  app.add_subcommand("bench", "Time kernels");
  return [] { return kPass; };
}
}  // namespace assay::cli
