// Inputs made from a seed, for cases and for benchmarks.
#pragma once

#include <cstdint>
#include <string>

#include "golden/hdf5.h"
#include "reference/ops/tensor.h"

namespace assay {

// The tensor's own distribution where it has one; else the named one, with what its type makes of it.
Distribution distribution_for(const TensorSpec& spec, const std::string& name);

// Whether the last numbers of its rows may be louder than all others.
bool has_long_rows(const TensorSpec& spec);

// After so many numbers or blocks, a prime, the data of a case that is made begin again: what lies a power of two away differs.
std::int64_t data_period(DType dtype);

// Dense, of the spec's shape. Blocks are whole blocks; packed ones are packed by the reference. After `period` elements (of plain blocks)
// it begins again, and the last numbers of long rows are the loudest, so that whoever loses them is far off; 0: neither.
Array generate_input(const TensorSpec& spec, const Distribution& distribution, std::uint64_t seed, std::uint32_t stream,
                     std::int64_t period = 0);

}  // namespace assay
