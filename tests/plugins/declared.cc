// A plugin of kernels that compute in arithmetic of their own, and say so, truly or falsely: products of f16 and f32 with activations
// rounded to f16, sums in f16 or in lanes, in double; blocks in eight lanes; a norm with a rough root, a softmax that flushes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"
#include "kernels/norms/norms.h"
#include "kernels/products/products.h"

namespace {

using assay::AssayPluginKernel;
using assay::AssayStatus;
using assay::ExpArgs;
using assay::ProductArgs;
using assay::RmsNormArgs;
using assay::SoftmaxArgs;

float half(float x) {
  return static_cast<float>(static_cast<_Float16>(x));
}
float same(float x) {
  return x;
}
float bfloat(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x)) return x;
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

float weight(const ProductArgs& a, std::int64_t row, std::int64_t c) {
  return static_cast<const float*>(a.w)[(row / 32 * a.k + c) * 32 + row % 32];
}

// One row by x, in kLanes sums of type Acc that are joined one after the other, the tail behind them.
template <class Acc, int kLanes, float (*kRound)(float)>
AssayStatus matvec(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (!assay_product_sizes(&a) || a.m != 1) return assay::ASSAY_BAD_SHAPE;
  const auto* const x = static_cast<const float*>(a.x);
  for (std::int64_t row = 0; row < a.n; ++row) {
    Acc sums[kLanes] = {};
    const auto term = [&](std::int64_t c) { return static_cast<Acc>(weight(a, row, c)) * static_cast<Acc>(kRound(x[c])); };
    const std::int64_t whole = a.k / kLanes * kLanes;
    for (std::int64_t c = 0; c < whole; ++c) sums[c % kLanes] += term(c);
    for (int lane = 1; lane < kLanes; ++lane) sums[0] += sums[lane];
    for (std::int64_t c = whole; c < a.k; ++c) sums[0] += term(c);
    a.y[row] = static_cast<float>(sums[0]);
  }
  return assay::ASSAY_OK;
}

// One after the other, by fused multiply-add.
float fused(const ProductArgs& a, std::int64_t row) {
  float sum = 0;
  for (std::int64_t c = 0; c < a.k; ++c) sum = std::fma(weight(a, row, c), static_cast<const float*>(a.x)[c], sum);
  return sum;
}

// Blocks of 64 in f32, whose sums are added up in bf16.
float narrow_total(const ProductArgs& a, std::int64_t row) {
  float total = 0;
  for (std::int64_t from = 0; from < a.k; from += 64) {
    float sum = 0;
    for (std::int64_t c = from; c < std::min(from + 64, a.k); ++c) sum += weight(a, row, c) * static_cast<const float*>(a.x)[c];
    total = bfloat(total + sum);
  }
  return total;
}

template <float (*kRow)(const ProductArgs&, std::int64_t)>
AssayStatus by_rows(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (!assay_product_sizes(&a) || a.m != 1) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t row = 0; row < a.n; ++row) a.y[row] = kRow(a, row);
  return assay::ASSAY_OK;
}

// Rows of y rounded to f16 on the way out.
AssayStatus halves_out(const void* args) {
  const AssayStatus status = matvec<double, 1, same>(args);
  const auto& a = *static_cast<const ProductArgs*>(args);
  for (std::int64_t row = 0; row < a.n && status == assay::ASSAY_OK; ++row) a.y[row] = half(a.y[row]);
  return status;
}

// Codes of the row by codes of x, in int32 (docs/numerics.md, i8_row).
AssayStatus integers(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (!assay_product_sizes(&a) || a.m != 1) return assay::ASSAY_BAD_SHAPE;
  const auto* const x = static_cast<const float*>(a.x);
  const auto codes = [&](auto number, std::vector<std::int32_t>& out) {
    float most = 0;
    for (std::int64_t c = 0; c < a.k; ++c) most = std::max(most, std::fabs(number(c)));
    const float inverse = most == 0 ? 0 : 127 / most;
    for (std::int64_t c = 0; c < a.k; ++c)
      out[static_cast<std::size_t>(c)] = static_cast<std::int32_t>(std::nearbyint(number(c) * inverse));
    return most / 127;
  };
  std::vector<std::int32_t> of_x(static_cast<std::size_t>(a.k)), of_w(of_x);
  const float x_scale = codes([x](std::int64_t c) { return x[c]; }, of_x);
  for (std::int64_t row = 0; row < a.n; ++row) {
    const float w_scale = codes([&](std::int64_t c) { return weight(a, row, c); }, of_w);
    std::int32_t sum = 0;
    for (std::size_t c = 0; c < of_x.size(); ++c) sum += of_w[c] * of_x[c];
    a.y[row] = static_cast<float>(sum) * (w_scale * x_scale);
  }
  return assay::ASSAY_OK;
}

// q8_0 by q8_0, each eighth of a block in a lane of its own, as vector registers have it.
struct Q8 {
  _Float16 d;
  std::int8_t code[32];
};
AssayStatus q8_lanes(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (!assay_product_sizes(&a) || a.m != 1 || a.k % 32 != 0) return assay::ASSAY_BAD_SHAPE;
  const auto* const x = static_cast<const Q8*>(a.x);
  for (std::int64_t row = 0; row < a.n; ++row) {
    const Q8* const w = static_cast<const Q8*>(a.w) + row * (a.k / 32);
    float sums[8] = {};
    for (std::int64_t b = 0; b < a.k / 32; ++b) {
      const float scale = static_cast<float>(w[b].d) * static_cast<float>(x[b].d);
      for (int lane = 0; lane < 8; ++lane) {
        std::int32_t sum = 0;
        for (int i = 0; i < 4; ++i) sum += w[b].code[lane * 4 + i] * x[b].code[lane * 4 + i];
        sums[lane] = std::fma(scale, static_cast<float>(sum), sums[lane]);
      }
    }
    for (int lane = 1; lane < 8; ++lane) sums[0] += sums[lane];
    a.y[row] = sums[0];
  }
  return assay::ASSAY_OK;
}

// A step off the nearest float for every second result: within 2.5 ulp, those of the lower binade at a power of two.
AssayStatus rough_exp(const void* args) {
  const auto& a = *static_cast<const ExpArgs*>(args);
  if (!assay_exp_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t i = 0; i < a.n; ++i) {
    const auto nearest = static_cast<float>(std::exp(static_cast<double>(a.x[i])));
    a.y[i] = i % 2 == 0 && std::isnormal(nearest) ? std::nextafter(nearest, 1.0F) : nearest;
  }
  return assay::ASSAY_OK;
}

// The upper half of a float's significand, as an estimate instruction has it: within 2^11 ulp.
float estimate(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isfinite(x)) bits &= ~0xfffU;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Two steps off the nearest float.
float two_off(float x) {
  return std::nextafter(std::nextafter(x, 0.0F), 0.0F);
}

// The root, and what becomes of it.
template <float (*kRough)(float)>
AssayStatus rough_norm(const void* args) {
  const auto& a = *static_cast<const RmsNormArgs*>(args);
  if (!assay_rms_norm_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  if (!(std::isnormal(a.eps) && a.eps > 0)) return assay::ASSAY_BAD_PARAMETER;
  for (std::int64_t j = 0; j < a.rows && a.n > 0; ++j) {
    const float* x = a.x + j * a.x_stride;
    float sum = 0;
    for (std::int64_t i = 0; i < a.n; ++i) sum += x[i] * x[i];
    const float r = kRough(1 / std::sqrt(sum / static_cast<float>(a.n) + a.eps));
    for (std::int64_t i = 0; i < a.n; ++i) a.y[j * a.y_stride + i] = x[i] * r * a.w[i];
  }
  return assay::ASSAY_OK;
}

// Exponentials, and results, that would be denormal are zeros, as where FTZ is set.
float flushed(float x) {
  return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x;
}
// Within an ulp and a half.
float step_off(float x) {
  return x < 1 && std::isnormal(x) ? std::nextafter(x, 1.0F) : x;
}
template <float (*kRough)(float)>
AssayStatus rough_softmax(const void* args) {
  const auto& a = *static_cast<const SoftmaxArgs*>(args);
  if (!assay_softmax_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t j = 0; j < a.rows && a.n > 0; ++j) {
    const float* x = a.x + j * a.x_stride;
    float* y = a.y + j * a.y_stride;
    float most = x[0];
    for (std::int64_t i = 1; i < a.n; ++i) most = std::isnan(x[i]) || x[i] > most ? x[i] : most;
    float sum = 0;
    for (std::int64_t i = 0; i < a.n; ++i) {
      y[i] = kRough(static_cast<float>(std::exp(static_cast<double>(x[i] - most))));
      sum += y[i];
    }
    for (std::int64_t i = 0; i < a.n; ++i) y[i] = kRough == flushed ? flushed(y[i] / sum) : y[i] / sum;
  }
  return assay::ASSAY_OK;
}

constexpr AssayPluginKernel kernel(const char* op, const char* name, AssayStatus (*run)(const void*),
                                   const char* properties = nullptr) {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, op, name, "scalar", nullptr, nullptr, nullptr, run, properties};
}

constexpr AssayPluginKernel kKernels[] = {
    kernel("matvec_f32", "f16_sums", matvec<_Float16, 8, half>),
    kernel("matvec_f32", "f16_sums_declared", matvec<_Float16, 8, half>, "x=f16;w=f16;acc=f16;order=lanes:8;nan=no;"),
    kernel("matvec_f32", "f16_sums_as_f32", matvec<_Float16, 8, half>, "x=f16;w=f16;acc=f32;order=lanes:8;nan=no;"),
    kernel("matvec_f32", "x_f16", matvec<float, 8, half>),
    kernel("matvec_f32", "x_f16_declared", matvec<float, 8, half>, "x=f16;order=lanes:8;nan=no;"),
    kernel("matvec_f32", "x_f16_as_bf16", matvec<float, 8, half>, "x=bf16;order=lanes:8;nan=no;"),
    kernel("matvec_f32", "x_bf16_as_f16", matvec<float, 8, bfloat>, "x=f16;order=lanes:8;nan=no;"),
    kernel("matvec_f32", "f64_declared", matvec<double, 1, same>, "acc=f64;order=free;"),
    kernel("matvec_f32", "f32_as_f64", matvec<float, 16, same>, "acc=f64;order=free;"),
    kernel("matvec_f32", "lanes_declared", matvec<float, 16, same>, "order=lanes:16;"),
    kernel("matvec_f32", "one_as_16_lanes", matvec<float, 1, same>, "order=lanes:16;"),
    kernel("matvec_f32", "16_as_8_lanes", matvec<float, 16, same>, "order=lanes:8;"),
    kernel("matvec_f32", "8_as_64_lanes", matvec<float, 8, same>, "order=lanes:64;"),
    kernel("matvec_f32", "one_as_tree", matvec<float, 1, same>, "order=tree;"),
    kernel("matvec_f32", "8_as_512_lanes", matvec<float, 8, same>, "order=lanes:512;"),
    kernel("matvec_f32", "f32_as_bf16_sums", matvec<float, 8, same>, "acc=bf16;order=lanes:8;nan=no;"),
    kernel("matvec_f32", "narrow_total_declared", by_rows<narrow_total>, "acc=bf16;order=blocks:64;nan=no;"),
    kernel("matvec_f32", "fused_as_bf16_products", by_rows<fused>, "products=bf16;order=free;"),
    kernel("matvec_f32", "f32_as_f16_out", matvec<double, 1, same>, "acc=f64;out=f16;order=free;"),
    kernel("matvec_f32", "one_declared", matvec<float, 1, same>, "order=free;"),
    kernel("matvec_f32", "out_f16_declared", halves_out, "acc=f64;out=f16;order=free;"),
    kernel("matvec_f32", "out_f16", halves_out),
    kernel("matvec_f32", "integers_declared", integers, "x=i8_row;w=i8_row;acc=i32;nan=no;allocates=yes;"),
    kernel("rms_norm", "estimate", rough_norm<estimate>),
    kernel("rms_norm", "estimate_declared", rough_norm<estimate>, "rsqrt=4096;order=free;"),
    kernel("rms_norm", "estimate_as_root", rough_norm<estimate>, "rsqrt=16;order=free;"),
    kernel("rms_norm", "one_as_16_lanes", rough_norm<estimate>, "rsqrt=4096;order=lanes:16;"),
    kernel("rms_norm", "one_declared", rough_norm<estimate>, "rsqrt=4096;order=lanes:1;"),
    kernel("rms_norm", "two_off_declared", rough_norm<two_off>, "rsqrt=4;order=free;"),
    kernel("rms_norm", "two_off_as_one", rough_norm<two_off>, "rsqrt=1;order=free;"),
    kernel("exp", "rough", rough_exp, "exp=2.5;"),
    kernel("exp", "rough_as_ours", rough_exp, "exp=0.94;"),
    kernel("softmax", "flush", rough_softmax<flushed>, "order=free;nan=no;"),
    kernel("softmax", "flush_declared", rough_softmax<flushed>, "flush=yes;order=free;nan=no;"),
    kernel("softmax", "step_off_declared", rough_softmax<step_off>, "exp=1.5;order=free;nan=no;"),
    kernel("softmax", "step_off_as_ours", rough_softmax<step_off>, "exp=0.94;order=free;nan=no;"),
    kernel("gemv_q8_0_q8_0", "lanes", q8_lanes),
    kernel("gemv_q8_0_q8_0", "lanes_declared", q8_lanes, "order=lanes:8;"),
    kernel("gemv_q8_0_q8_0", "8_as_16_lanes", q8_lanes, "order=lanes:16;"),
    kernel("gemv_q8_0_q8_0", "8_as_512_lanes", q8_lanes, "order=lanes:512;"),
};

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  static constexpr assay::AssayPlugin kPlugin = {
      ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin), "declared", "1.0", kKernels, static_cast<std::int64_t>(std::size(kKernels))};
  return &kPlugin;
}
