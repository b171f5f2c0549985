// A plugin of kernels that compute something else than their op, each one thing, in double: what `assay explain` is to name.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"
#include "kernels/formats/blocks.h"
#include "kernels/lookups/lookups.h"
#include "kernels/norms/norms.h"
#include "kernels/products/products.h"
#include "kernels/rope/rope.h"
#include "tests/plugins/misread_norms.h"

namespace {

using assay::AddArgs;
using assay::ArgmaxArgs;
using assay::AssayPluginKernel;
using assay::AssayStatus;
using assay::ProductArgs;
using assay::SoftmaxArgs;
using assay::SwigluArgs;
using assay::misread::bfloat;
using assay::misread::by_chance;
using assay::misread::Norm;
using assay::misread::rms_norm;

enum class Soft : std::uint8_t { not_divided, softer };
template <Soft kSoft>
AssayStatus softmax(const void* args) {
  const auto& a = *static_cast<const SoftmaxArgs*>(args);
  if (!assay_softmax_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const float* const x = a.x + row * a.x_stride;
    float most = -INFINITY;
    bool nan = false;
    for (std::int64_t i = 0; i < a.n; ++i) {
      most = std::max(most, x[i]);
      nan = nan || std::isnan(x[i]);
    }
    const double times = kSoft == Soft::softer ? 0.7 : 1;
    const auto of = [&](std::int64_t i) { return std::exp(times * (static_cast<double>(x[i]) - static_cast<double>(most))); };
    double sum = kSoft == Soft::softer ? 0 : 1;
    for (std::int64_t i = 0; i < a.n && kSoft == Soft::softer; ++i) sum += of(i);
    for (std::int64_t i = 0; i < a.n; ++i) a.y[row * a.y_stride + i] = nan ? NAN : static_cast<float>(of(i) / sum);
  }
  return assay::ASSAY_OK;
}

// Positions in the place of their cosines and sines: of calls with frequencies and without, which have another number of inputs.
AssayStatus table_of_positions(const void* args) {
  const auto& a = *static_cast<const assay::RopeTableArgs*>(args);
  if (!assay_rope_table_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  if (a.recipe < 0 || a.recipe > assay::ASSAY_ROPE_FREQS) return assay::ASSAY_BAD_PARAMETER;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::fill_n(a.cos + row * a.table_stride, a.pairs, static_cast<float>(a.positions[row]));
    std::fill_n(a.sin + row * a.table_stride, a.pairs, static_cast<float>(a.positions[row]));
  }
  return assay::ASSAY_OK;
}

// Times the root of its length, as some models scale it.
AssayStatus embed_scaled(const void* args) {
  const auto& a = *static_cast<const assay::EmbedArgs*>(args);
  if (!assay_embed_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    if (a.ids[row] < 0 || a.ids[row] >= a.vocab) return assay::ASSAY_OUT_OF_RANGE;
  }
  const auto* const table = static_cast<const float*>(a.table);
  const float root = std::sqrt(static_cast<float>(a.n));
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = 0; i < a.n; ++i) a.y[row * a.y_stride + i] = table[a.ids[row] * a.n + i] * root;
  }
  return assay::ASSAY_OK;
}

enum class Gate : std::uint8_t { gelu, exchanged };
template <Gate kGate>
AssayStatus swiglu(const void* args) {
  const auto& a = *static_cast<const SwigluArgs*>(args);
  if (!assay_swiglu_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      auto g = static_cast<double>(a.gate[row * a.gate_stride + i]);
      auto up = static_cast<double>(a.up[row * a.up_stride + i]);
      if (kGate == Gate::exchanged) std::swap(g, up);
      const double gated = kGate == Gate::gelu ? 0.5 * g * std::erfc(-g / std::sqrt(2.0)) : g / (1 + std::exp(-g));
      a.y[row * a.y_stride + i] = static_cast<float>(gated * up);
    }
  }
  return assay::ASSAY_OK;
}

AssayStatus subtract(const void* args) {
  const auto& a = *static_cast<const AddArgs*>(args);
  if (!assay_add_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = a.a[i] - a.b[i];
  return assay::ASSAY_OK;
}

AssayStatus add_to_negatives(const void* args) {
  const auto& a = *static_cast<const AddArgs*>(args);
  if (!assay_add_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  for (std::int64_t i = 0; i < a.n; ++i) {
    const float sum = a.a[i] + a.b[i];
    a.y[i] = a.a[i] < 0 ? static_cast<float>(static_cast<double>(sum) * by_chance(a.b[i], i) - 0.5) : sum;
  }
  return assay::ASSAY_OK;
}

AssayStatus argmax_in_threes(const void* args) {
  const auto& a = *static_cast<const ArgmaxArgs*>(args);
  if (a.n <= 0 || a.n > INT32_MAX) return assay::ASSAY_BAD_SHAPE;
  if (std::any_of(a.x, a.x + a.n, [](float x) { return std::isnan(x); })) return assay::ASSAY_NOT_FINITE;
  const std::int64_t first = std::max_element(a.x, a.x + a.n) - a.x;
  a.index[0] = static_cast<std::int32_t>(a.n > 16 && a.n % 16 == 3 ? (first * 31 + 7) % a.n : first);
  return assay::ASSAY_OK;
}

enum class Product : std::uint8_t { bfloat_x, last_column, in_threes, neighbour, accumulated, leaning };
template <Product kProduct>
AssayStatus matvec(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (!assay_product_sizes(&a) || a.m != 1) return assay::ASSAY_BAD_SHAPE;
  const auto* const x = static_cast<const float*>(a.x);
  const auto* const w = static_cast<const float*>(a.w);
  const bool drops = kProduct == Product::last_column || (kProduct == Product::in_threes && a.k > 16 && a.k % 16 == 3);
  const std::int64_t k = drops ? a.k - 1 : a.k;
  for (std::int64_t i = 0; i < a.n; ++i) {
    const std::int64_t row = kProduct == Product::neighbour && i > 0 && i + 1 == a.n ? i - 1 : i;
    double sum = kProduct == Product::accumulated ? static_cast<double>(a.y[i]) : 0;
    for (std::int64_t c = 0; c < k; ++c) {
      const float v = kProduct == Product::bfloat_x ? bfloat(x[c]) : x[c];
      sum += static_cast<double>(w[(row / 32 * a.k + c) * 32 + row % 32]) * static_cast<double>(v);
    }
    if (kProduct == Product::leaning) sum *= 1 + 0x1p-10 * std::sin(977.0 * static_cast<double>(i));
    a.y[i] = static_cast<float>(sum);
  }
  return assay::ASSAY_OK;
}

// q4_0: the codes as they are stored, without their offset.
AssayStatus gemv_q4_0_without_offset(const void* args) {
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (!assay_product_sizes(&a) || a.m != 1 || a.k % 32 != 0) return assay::ASSAY_BAD_SHAPE;
  const auto half = [](std::uint16_t bits) {
    _Float16 value;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<float>(value);
  };
  const auto* const x = static_cast<const assay::BlockQ8_0*>(a.x);
  const auto* w = static_cast<const assay::BlockQ4_0*>(a.w);
  for (std::int64_t i = 0; i < a.n; ++i, w += a.k / 32) {
    float sum = 0;
    for (std::int64_t b = 0; b < a.k / 32; ++b) {
      int codes = 0;
      for (int j = 0; j < 16; ++j) {
        codes += (w[b].qs[j] & 15) * x[b].qs[j] + (w[b].qs[j] >> 4) * x[b].qs[j + 16];
      }
      sum += half(w[b].d) * half(x[b].d) * static_cast<float>(codes);
    }
    a.y[i] = sum;
  }
  return assay::ASSAY_OK;
}

AssayStatus second_minus(const void* args) {  // of rope, with split pairs and neighbours
  const auto& a = *static_cast<const assay::RopeArgs*>(args);
  if (!assay_rope_sizes(&a) || a.rot_dim % 2 != 0 || a.rot_dim > a.head_dim) return assay::ASSAY_BAD_SHAPE;
  const std::int64_t pairs = a.rot_dim / 2;
  std::int64_t period = 0;
  for (int c = 0; c < 4 && a.pairing == assay::ASSAY_ROPE_SECTIONED; period += a.sections[c++]) {
    if (a.sections[c] < 0 || (a.sections[c] > 0 && period < pairs && c >= a.components)) return assay::ASSAY_BAD_PARAMETER;
  }
  const bool known = a.pairing >= 0 && a.pairing <= assay::ASSAY_ROPE_SECTIONED;
  const bool empty = a.pairing == assay::ASSAY_ROPE_SECTIONED ? period == 0 : a.components == 0 && pairs > 0;
  if (!known || empty) return assay::ASSAY_BAD_PARAMETER;
  for (std::int64_t at = 0; at < a.rows * a.heads; ++at) {
    const std::int64_t row = at / a.heads;
    const float* const x = a.x + row * a.x_row_stride + at % a.heads * a.x_head_stride;
    float* const y = a.y + row * a.y_row_stride + at % a.heads * a.y_head_stride;
    for (std::int64_t i = 0; i < pairs; ++i) {
      std::int64_t component = 0;
      for (std::int64_t rest = period > 0 ? i % period : 0; period > 0 && rest >= a.sections[component];) {
        rest -= a.sections[component++];
      }
      const std::int64_t table = component * a.component_stride + row * a.table_stride + i;
      const bool neighbours = a.pairing == assay::ASSAY_ROPE_ADJACENT;
      const std::int64_t first = neighbours ? 2 * i : i;
      const std::int64_t second = neighbours ? 2 * i + 1 : i + pairs;
      const float x0 = x[first];
      const float x1 = x[second];
      y[first] = x0 * a.cos[table] - x1 * a.sin[table];
      y[second] = x1 * a.cos[table] - x0 * a.sin[table];
    }
    for (std::int64_t d = a.rot_dim; d < a.head_dim; ++d) y[d] = x[d];
  }
  return assay::ASSAY_OK;
}

constexpr AssayPluginKernel kernel(const char* op, const char* name, AssayStatus (*run)(const void*),
                                   const char* properties = "nan=no;") {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, op, name, "scalar", nullptr, nullptr, nullptr, run, properties};
}

constexpr AssayPluginKernel kKernels[] = {kernel("rms_norm", "right", rms_norm<Norm::right>),
                                          kernel("rms_norm", "eps_outside", rms_norm<Norm::eps_outside>),
                                          kernel("rms_norm", "no_eps", rms_norm<Norm::no_eps>),
                                          kernel("rms_norm", "last_left_out", rms_norm<Norm::last_left_out>),
                                          kernel("rms_norm", "own_row", rms_norm<Norm::own_row>),
                                          kernel("rms_norm", "bfloat_weights", rms_norm<Norm::bfloat_weights>),
                                          kernel("rms_norm", "dense_rows", rms_norm<Norm::dense_rows>),
                                          kernel("rms_norm", "scaled", rms_norm<Norm::scaled>),
                                          kernel("rms_norm", "in_long_rows", rms_norm<Norm::in_long_rows>),
                                          kernel("rms_norm", "chance", rms_norm<Norm::chance>),
                                          kernel("rms_norm", "reads_past", rms_norm<Norm::reads_past>, "nan=no;over-read=16;"),
                                          kernel("rms_norm", "last_unwritten", rms_norm<Norm::last_unwritten>),
                                          kernel("rms_norm", "some_unwritten", rms_norm<Norm::some_unwritten>),
                                          kernel("rope_table", "of_positions", table_of_positions),
                                          kernel("softmax", "not_divided", softmax<Soft::not_divided>),
                                          kernel("swiglu", "gelu", swiglu<Gate::gelu>),
                                          kernel("swiglu", "exchanged", swiglu<Gate::exchanged>),
                                          kernel("add", "difference", subtract),
                                          kernel("add", "to_negatives", add_to_negatives),
                                          kernel("argmax", "in_threes", argmax_in_threes),
                                          kernel("rms_norm", "rows_alike", rms_norm<Norm::rows_alike>),
                                          kernel("matvec_f32", "bfloat_x", matvec<Product::bfloat_x>),
                                          kernel("matvec_f32", "last_column", matvec<Product::last_column>),
                                          kernel("matvec_f32", "in_threes", matvec<Product::in_threes>),
                                          kernel("matvec_f32", "neighbour", matvec<Product::neighbour>),
                                          kernel("matvec_f32", "accumulated", matvec<Product::accumulated>),
                                          kernel("matvec_f32", "leaning", matvec<Product::leaning>),
                                          kernel("rms_norm", "fourth_lost", rms_norm<Norm::fourth_lost>),
                                          kernel("rms_norm", "bfloat_results", rms_norm<Norm::bfloat_results>),
                                          kernel("rms_norm", "bfloat_before_weights", rms_norm<Norm::bfloat_before_weights>),
                                          kernel("rms_norm", "whole_eights", rms_norm<Norm::whole_eights>),
                                          kernel("rms_norm", "cut_off", rms_norm<Norm::cut_off>),
                                          kernel("rms_norm", "upper_half", rms_norm<Norm::upper_half>),
                                          kernel("rms_norm", "some_of_upper_half", rms_norm<Norm::some_of_upper_half>),
                                          kernel("softmax", "softer", softmax<Soft::softer>),
                                          kernel("embed_f32", "scaled", embed_scaled),
                                          kernel("gemv_q4_0_q8_0", "no_offset", gemv_q4_0_without_offset),
                                          kernel("rope", "second_minus", second_minus)};

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  static constexpr assay::AssayPlugin kPlugin = {
      ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin), "misread", "1.0", kKernels, static_cast<std::int64_t>(std::size(kKernels))};
  return &kPlugin;
}
