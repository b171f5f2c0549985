// The loops behind the roofs: those that only read, and those that only multiply and add.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.h"

namespace assay::bench {

// Reads `bytes` (a multiple of kReadUnit) from `data` once and keeps nothing.
struct ReadLoop {
  const char* name;  // "512 bits, 4 streams, prefetch"
  Isa isa;
  void (*run)(const std::byte* data, std::size_t bytes);
};
inline constexpr std::size_t kReadUnit = 4096;

enum class Peak : std::uint8_t {
  fma_scalar,  // the baseline's vectors: SSE2 multiplies and adds on x86-64
  fma_avx2,
  fma_avx512,
  dot_avxvnni,  // vpdpbusd, as those below
  dot_avxvnni_evex,
  dot_avx512vnni,
  dot_amx_int8,  // tdpbssd
};
inline constexpr std::size_t kPeaks = 7;

// Runs `iterations` of as many independent chains as the registers hold.
struct PeakLoop {
  const char* name;
  Isa isa;
  Peak peak;
  double operations;  // an iteration's; a multiply-add counts two
  void (*run)(std::int64_t iterations);
};

// All that this program was built with; those above what the CPU supports are in it too.
std::span<const ReadLoop> read_loops() noexcept;
std::span<const PeakLoop> peak_loops() noexcept;

}  // namespace assay::bench
