// No timing before a passing check.
#pragma once

#include "harness/bench/bench.h"

namespace assay::bench {

// Checks a variant at the op's goldens, once, before it may be timed.
Gate parity_gate();

}  // namespace assay::bench
