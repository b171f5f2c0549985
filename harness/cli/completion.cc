#include "harness/cli/cli.h"

namespace assay::cli {
Action add_completion(CLI::App& app, const Common&) {
  app.add_subcommand("completion", "Shell completions and the man page, from the option tables");
  return [] { return kPass; };
}
}  // namespace assay::cli
