/* Software prefetch of weights that are one ascending stream. Past the end a prefetch does nothing. */
#pragma once

#include <stdint.h>

#include "kernels/abi.h"
#include "kernels/cpu.h"

namespace assay {
namespace {

/* How many bytes ahead a line is asked for, into either cache; 0: not at all. */
struct Ahead {
  int64_t first_level;
  int64_t second_level;
};

/* Where the hardware does not follow a stream. Into the first level alone, whose outstanding misses are few, reaches 80 % of the
   read roof on Emerald Rapids, into the second alone 88 %, both 95 %; half or twice the distances lose 2 to 5 points. */
constexpr Ahead kFarAhead = {4096, 16384};

template <Ahead Distance>
ASSAY_INLINE void prefetch_line(const void* line) {
  const char* const at = static_cast<const char*>(line);
  if constexpr (Distance.second_level > 0) __builtin_prefetch(at + Distance.second_level, 0, 2);
  if constexpr (Distance.first_level > 0) __builtin_prefetch(at + Distance.first_level);
  (void)at;
}

}  // namespace
}  // namespace assay
