// A plugin of kernels that add up as vector instructions do: bf16 by vdpbf16ps, and q4_k in eight lanes of floats, as ggml's vec_dot has it.
#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "harness/plugin/assay_plugin.h"
#include "kernels/formats/unpack.h"
#include "kernels/products/products.h"

namespace {

using assay::AssayPluginKernel;
using assay::AssayStatus;
using assay::BlockQ4_K;
using assay::BlockQ8_K;
using assay::ProductArgs;

#define ASSAY_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

// x[c] and x[c + 1], which a row of odd length lacks, in bf16: to nearest even, denormals as zeros.
ASSAY_BF16 __m512bh pair_of(const float* x, std::int64_t c, std::int64_t k) {
  const __m128 two = _mm_setr_ps(x[c], c + 1 < k ? x[c + 1] : 0.0F, 0, 0);
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(_mm_cvtsi128_si32(reinterpret_cast<__m128i>(_mm_cvtneps_pbh(two)))));
}

// Sixteen rows of a tile, a lane each, two columns an instruction: both products are added to the sum, denormals are zeros.
ASSAY_BF16 __m512 sixteen_rows(const std::uint16_t* w, const float* x, std::int64_t k) {
  __m512 sums = _mm512_setzero_ps();
  for (std::int64_t c = 0; c < k; c += 2) {
    std::uint16_t pairs[32];
    for (int row = 0; row < 16; ++row) {
      pairs[2 * row] = w[c * 32 + row];
      pairs[2 * row + 1] = c + 1 < k ? w[(c + 1) * 32 + row] : std::uint16_t{0};
    }
    sums = _mm512_dpbf16_ps(sums, reinterpret_cast<__m512bh>(_mm512_loadu_si512(pairs)), pair_of(x, c, k));
  }
  return sums;
}

template <bool kGemv>
ASSAY_BF16 AssayStatus by_vdpbf16ps(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (!assay_product_sizes(&a) || (kGemv && a.m != 1)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t j = 0; j < a.m; ++j) {
    const float* const x = static_cast<const float*>(a.x) + j * a.x_stride;
    for (std::int64_t row = 0; row < a.n; row += 16) {
      const std::uint16_t* const w = static_cast<const std::uint16_t*>(a.w) + row / 32 * a.k * 32 + row % 32;
      const std::int64_t left = a.n - row;
      const auto mask = static_cast<__mmask16>(left < 16 ? (1U << left) - 1 : 0xffffU);
      _mm512_mask_storeu_ps(a.y + j * a.y_stride + row, mask, sixteen_rows(w, x, a.k));
    }
  }
  return assay::ASSAY_OK;
}

float widened(std::uint16_t half) {
  return static_cast<float>(std::bit_cast<_Float16>(half));
}

// One block: of 32 elements four go to a lane, whose integers become a float once; the minima have a sum of their own.
void add_block(const BlockQ4_K& w, const BlockQ8_K& x, float (&lanes)[8], float& minima) {
  const assay::ScalesMins scales = assay::unpack_scales_mins(w.scales);
  std::int32_t sums[8] = {};
  for (int i = 0; i < 256; ++i) sums[i / 4 % 8] += scales.sc[i / 32] * assay::code_q4_k(w, i) * x.qs[i];
  std::int32_t least = 0;
  for (int j = 0; j < 16; ++j) least += scales.m[j / 2] * x.bsums[j];
  const float d = widened(w.d) * x.d, dmin = widened(w.dmin) * x.d;
  for (int lane = 0; lane < 8; ++lane) lanes[lane] = std::fma(d, static_cast<float>(sums[lane]), lanes[lane]);
  minima = std::fma(-dmin, static_cast<float>(least), minima);
}

AssayStatus q4_k_lanes(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (!assay_product_sizes(&a) || a.m != 1 || a.k % 256 != 0) return assay::ASSAY_BAD_SHAPE;
  const std::int64_t blocks = a.k / 256;
  for (std::int64_t row = 0; row < a.n; ++row) {
    float lanes[8] = {}, minima = 0;
    for (std::int64_t b = 0; b < blocks; ++b)
      add_block(static_cast<const BlockQ4_K*>(a.w)[row * blocks + b], static_cast<const BlockQ8_K*>(a.x)[b], lanes, minima);
    for (int apart = 4; apart > 0; apart /= 2) {
      for (int lane = 0; lane < apart; ++lane) lanes[lane] += lanes[lane + apart];
    }
    a.y[row] = lanes[0] + minima;
  }
  return assay::ASSAY_OK;
}

constexpr AssayPluginKernel kernel(const char* op, const char* name, AssayStatus (*run)(const void*),
                                   const char* properties = nullptr) {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, op, name, "scalar", nullptr, nullptr, nullptr, run, properties};
}

constexpr AssayPluginKernel kKernels[] = {
    kernel("matvec_bf16", "vdpbf16ps", by_vdpbf16ps<true>),
    kernel("matvec_bf16", "vdpbf16ps_declared", by_vdpbf16ps<true>, "x=bf16;order=lanes:1;flush=yes;"),
    kernel("gemm_bf16", "vdpbf16ps", by_vdpbf16ps<false>),
    kernel("gemm_bf16", "vdpbf16ps_declared", by_vdpbf16ps<false>, "x=bf16;order=lanes:1;flush=yes;"),
    kernel("gemv_q4_k_q8_k", "lanes", q4_k_lanes),
    kernel("gemv_q4_k_q8_k", "lanes_declared", q4_k_lanes, "order=lanes:8;"),
};

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  static constexpr assay::AssayPlugin kPlugin = {
      ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin), "vectors", "1.0", kKernels, static_cast<std::int64_t>(std::size(kKernels))};
  return &kPlugin;
}
