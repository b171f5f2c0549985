// What this machine's memory and arithmetic give at most to so many threads at once.
#pragma once

#include <optional>

#include "kernels/isa.h"

namespace assay::profile {

struct Roofs {
  double read = 0;             // bytes a second from memory that is in no cache
  double fma = 0;              // f32 operations a second; a multiply-add counts two
  std::optional<double> int8;  // operations a second on products of bytes, where the ISA has instructions for them
};

// Takes about a second, and twice bench::cold_bytes() of memory for each thread. Kernels of `isa` and below are meant.
Roofs measure_roofs(int threads, Isa isa);

}  // namespace assay::profile
