// No timing before a passing check.
#pragma once

#include <optional>

#include "harness/interop/remote/remote_runner.h"
#include "harness/verdict/bench/bench.h"
#include "harness/verdict/checks.h"

namespace assay::bench {

// Checks a variant at the op's goldens, once, before it may be timed. Those of plugins (`plugins`: where they are) in a runner, and held
// to `checks` alone.
Gate parity_gate(std::optional<RunnerOptions> plugins = std::nullopt, const Checks& checks = Checks::all());

}  // namespace assay::bench
