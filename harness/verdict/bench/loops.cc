#include "harness/verdict/bench/loops.h"

namespace assay::bench {

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPrefetchAhead = 4096;

// ---- In plain C++, for every architecture ----

using Words = const std::uint64_t*;

inline std::uint64_t add_line(Words line) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kLine / sizeof(std::uint64_t); ++i) sum += line[i];
  return sum;
}

template <std::size_t Streams, bool Prefetch>
void read_plain(const std::byte* data, std::size_t bytes) {
  const std::size_t part = bytes / Streams;
  std::uint64_t sums[Streams] = {};
  for (std::size_t at = 0; at < part; at += kLine) {
    for (std::size_t s = 0; s < Streams; ++s) {
      const std::byte* line = data + s * part + at;
      if constexpr (Prefetch) __builtin_prefetch(line + kPrefetchAhead);
      sums[s] += add_line(reinterpret_cast<Words>(line));
    }
  }
  asm volatile("" ::"r"(sums) : "memory");
}

#if !defined(__x86_64__)

// Sixteen chains of four lanes; where the baseline has fma, a compiler makes one instruction of each chain's step.
void fma_plain(std::int64_t iterations) {
  constexpr int kChains = 16, kLanes = 4;
  float sum[kChains][kLanes] = {};
  float scale = 0.5F;
  asm volatile("" : "+m"(scale));
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (auto& chain : sum) {
      for (float& lane : chain) lane = __builtin_fmaf(scale, scale, lane);
    }
  }
  asm volatile("" ::"r"(sum) : "memory");
}

constexpr ReadLoop kReadLoops[] = {
    {"plain, 1 stream", Isa::scalar, &read_plain<1, false>},  {"plain, 1 stream, prefetch", Isa::scalar, &read_plain<1, true>},
    {"plain, 2 streams", Isa::scalar, &read_plain<2, false>}, {"plain, 2 streams, prefetch", Isa::scalar, &read_plain<2, true>},
    {"plain, 4 streams", Isa::scalar, &read_plain<4, false>}, {"plain, 4 streams, prefetch", Isa::scalar, &read_plain<4, true>},
};
constexpr PeakLoop kPeakLoops[] = {{"fma, baseline", Isa::scalar, Peak::fma_scalar, 2 * 16 * 4, &fma_plain}};

#else

// ---- x86-64, in assembly: a compiler may spill in a peak loop, or drop a load that nobody uses ----

#define ASSAY_LINE_256(at) "vmovdqu " at ", %%ymm0\n\tvmovdqu 32+" at ", %%ymm1\n\t"
#define ASSAY_LINE_512(at) "vmovdqu64 " at ", %%zmm0\n\t"
#define ASSAY_AHEAD(at) "prefetcht0 4096+" at "\n\t"
#define ASSAY_NOTHING(at) ""

// One stream: 512 bytes a turn.
#define ASSAY_READ_1(name, line, ahead)                                                                                 \
  void name(const std::byte* data, std::size_t bytes) {                                                                 \
    const std::byte* end = data + bytes;                                                                                \
    asm volatile("1:\n\t" ahead("0(%0)") line("0(%0)") ahead("64(%0)") line("64(%0)") ahead("128(%0)") line("128(%0)")  \
                     ahead("192(%0)") line("192(%0)") ahead("256(%0)") line("256(%0)") ahead("320(%0)") line("320(%0)") \
                         ahead("384(%0)") line("384(%0)") ahead("448(%0)")                                              \
                             line("448(%0)") "add $512, %0\n\tcmp %1, %0\n\tjb 1b\n\tvzeroupper"                        \
                 : "+r"(data)                                                                                           \
                 : "r"(end)                                                                                             \
                 : "xmm0", "xmm1", "cc", "memory");                                                                     \
  }

// Four streams, a quarter of the memory each: two lines of each a turn.
#define ASSAY_READ_4(name, line, ahead)                                                                                  \
  void name(const std::byte* data, std::size_t bytes) {                                                                  \
    const std::size_t part = bytes / 4;                                                                                  \
    const std::byte* end = data + part;                                                                                  \
    asm volatile("1:\n\t" ahead("0(%0)") line("0(%0)") ahead("64(%0)") line("64(%0)") ahead("0(%0,%2)") line("0(%0,%2)") \
                     ahead("64(%0,%2)") line("64(%0,%2)") ahead("0(%0,%2,2)") line("0(%0,%2,2)") ahead("64(%0,%2,2)")    \
                         line("64(%0,%2,2)") ahead("0(%0,%3)") line("0(%0,%3)") ahead("64(%0,%3)")                       \
                             line("64(%0,%3)") "sub $-128, %0\n\tcmp %1, %0\n\tjb 1b\n\tvzeroupper"                      \
                 : "+r"(data)                                                                                            \
                 : "r"(end), "r"(part), "r"(3 * part)                                                                    \
                 : "xmm0", "xmm1", "cc", "memory");                                                                      \
  }

ASSAY_READ_1(read_256_1, ASSAY_LINE_256, ASSAY_NOTHING)
ASSAY_READ_1(read_256_1_ahead, ASSAY_LINE_256, ASSAY_AHEAD)
ASSAY_READ_4(read_256_4, ASSAY_LINE_256, ASSAY_NOTHING)
ASSAY_READ_4(read_256_4_ahead, ASSAY_LINE_256, ASSAY_AHEAD)
ASSAY_READ_1(read_512_1, ASSAY_LINE_512, ASSAY_NOTHING)
ASSAY_READ_1(read_512_1_ahead, ASSAY_LINE_512, ASSAY_AHEAD)
ASSAY_READ_4(read_512_4, ASSAY_LINE_512, ASSAY_NOTHING)
ASSAY_READ_4(read_512_4_ahead, ASSAY_LINE_512, ASSAY_AHEAD)

// Twelve chains hide a latency of 4 to 5 on two ports. The factors are zero, so nothing overflows or turns denormal.
#define ASSAY_TWELVE(op, s, a)                                                                                                  \
  op(s, a, "0") op(s, a, "1") op(s, a, "2") op(s, a, "3") op(s, a, "4") op(s, a, "5") op(s, a, "6") op(s, a, "7") op(s, a, "8") \
      op(s, a, "9") op(s, a, "10") op(s, a, "11")
#define ASSAY_CLEAR(reg, unused, n) "vpxor %%xmm" n ", %%xmm" n ", %%xmm" n "\n\t"
#define ASSAY_STEP(mnemonic, reg, n) mnemonic " %%" reg "12, %%" reg "13, %%" reg n "\n\t"
#define ASSAY_CLOBBERED \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "cc"

#define ASSAY_PEAK(name, mnemonic, reg)                                                                                       \
  void name(std::int64_t iterations) {                                                                                        \
    asm volatile(ASSAY_TWELVE(ASSAY_CLEAR, "", "") ASSAY_CLEAR("", "", "12") ASSAY_CLEAR("", "", "13") "1:\n\t" ASSAY_TWELVE( \
                     ASSAY_STEP, mnemonic, reg) ASSAY_TWELVE(ASSAY_STEP, mnemonic, reg) "dec %0\n\tjnz 1b\n\tvzeroupper"      \
                 : "+r"(iterations)                                                                                           \
                 :                                                                                                            \
                 : ASSAY_CLOBBERED);                                                                                          \
  }

ASSAY_PEAK(fma_256, "vfmadd231ps", "ymm")
ASSAY_PEAK(fma_512, "vfmadd231ps", "zmm")
ASSAY_PEAK(dot_256, "%{vex%} vpdpbusd", "ymm")
ASSAY_PEAK(dot_256_evex, "%{evex%} vpdpbusd", "ymm")
ASSAY_PEAK(dot_512, "vpdpbusd", "zmm")

// Six chains of whole tiles, of zeros.
#define ASSAY_TILE_STEP(n) "tdpbssd %%tmm7, %%tmm6, %%tmm" n "\n\t"
void dot_tiles(std::int64_t iterations) {
  static constexpr struct {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } kConfig;
  asm volatile("ldtilecfg %1\n1:\n\t" ASSAY_TILE_STEP("0") ASSAY_TILE_STEP("1") ASSAY_TILE_STEP("2") ASSAY_TILE_STEP("3")
                   ASSAY_TILE_STEP("4") ASSAY_TILE_STEP("5") "dec %0\n\tjnz 1b\n\ttilerelease"
               : "+r"(iterations)
               : "m"(kConfig)
               : "cc");
}

// SSE2 has no fma: six chains of multiplications beside six of additions.
#define ASSAY_CLEAR_SSE(unused, also, n) "xorps %%xmm" n ", %%xmm" n "\n\t"
#define ASSAY_PAIR_SSE(m, a) "mulps %%xmm12, %%xmm" m "\n\taddps %%xmm13, %%xmm" a "\n\t"
#define ASSAY_SIX_SSE      \
  ASSAY_PAIR_SSE("0", "1") \
  ASSAY_PAIR_SSE("2", "3") ASSAY_PAIR_SSE("4", "5") ASSAY_PAIR_SSE("6", "7") ASSAY_PAIR_SSE("8", "9") ASSAY_PAIR_SSE("10", "11")

void mul_add_128(std::int64_t iterations) {
  asm volatile(ASSAY_TWELVE(ASSAY_CLEAR_SSE, "", "") ASSAY_CLEAR_SSE("", "", "12")
                   ASSAY_CLEAR_SSE("", "", "13") "1:\n\t" ASSAY_SIX_SSE ASSAY_SIX_SSE "dec %0\n\tjnz 1b"
               : "+r"(iterations)
               :
               : ASSAY_CLOBBERED);
}

constexpr ReadLoop kReadLoops[] = {
    {"512 bits, 1 stream", Isa::avx512, &read_512_1},         {"512 bits, 1 stream, prefetch", Isa::avx512, &read_512_1_ahead},
    {"512 bits, 4 streams", Isa::avx512, &read_512_4},        {"512 bits, 4 streams, prefetch", Isa::avx512, &read_512_4_ahead},
    {"256 bits, 1 stream", Isa::avx2, &read_256_1},           {"256 bits, 1 stream, prefetch", Isa::avx2, &read_256_1_ahead},
    {"256 bits, 4 streams", Isa::avx2, &read_256_4},          {"256 bits, 4 streams, prefetch", Isa::avx2, &read_256_4_ahead},
    {"plain, 1 stream", Isa::scalar, &read_plain<1, false>},  {"plain, 1 stream, prefetch", Isa::scalar, &read_plain<1, true>},
    {"plain, 4 streams", Isa::scalar, &read_plain<4, false>}, {"plain, 4 streams, prefetch", Isa::scalar, &read_plain<4, true>},
};
constexpr PeakLoop kPeakLoops[] = {
    {"mulps and addps, 128 bits", Isa::scalar, Peak::fma_scalar, 24 * 4, &mul_add_128},
    {"vfmadd231ps, 256 bits", Isa::avx2, Peak::fma_avx2, 24 * 8 * 2, &fma_256},
    {"vfmadd231ps, 512 bits", Isa::avx512, Peak::fma_avx512, 24 * 16 * 2, &fma_512},
    {"vpdpbusd, 256 bits", Isa::avxvnni, Peak::dot_avxvnni, 24 * 32 * 2, &dot_256},
    {"vpdpbusd, 256 bits", Isa::avxvnni_evex, Peak::dot_avxvnni_evex, 24 * 32 * 2, &dot_256_evex},
    {"vpdpbusd, 512 bits", Isa::avx512vnni, Peak::dot_avx512vnni, 24 * 64 * 2, &dot_512},
    {"tdpbssd", Isa::amx_int8, Peak::dot_amx_int8, 6 * 16 * 16 * 64 * 2, &dot_tiles},
};

#endif

}  // namespace

std::span<const ReadLoop> read_loops() noexcept {
  return kReadLoops;
}
std::span<const PeakLoop> peak_loops() noexcept {
  return kPeakLoops;
}

}  // namespace assay::bench
