// FLASH_ATTN_EXT over a view's keys and values, gathered into one piece as llama.cpp's cache has them.
#include "kernels/simd/scalar.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/interop/plugins/ggml/graph.h"
#include "harness/interop/plugins/ggml/kernels.h"
#include "kernels/attention/view.h"

namespace assay::plugins {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

struct Rows {
  std::int64_t count;
  std::int64_t q_stride;
  std::int64_t y_stride;
};

// Decode's one row has no neighbours.
Rows rows_of(const AttentionArgs& call, bool decode) {
  return decode ? Rows{1, call.n_heads * call.q_head_stride, 0} : Rows{call.rows, call.q_row_stride, call.y_row_stride};
}

// Keys `keys` of every kv head, [n_kv, keys, head_dim], `size` bytes an element: those that some query may see, for others may hold
// anything.
void gather(const AttentionArgs& call, KeyRange keys, bool values, std::size_t size, std::vector<std::uint8_t>& out) {
  const std::size_t row = static_cast<std::size_t>(call.head_dim) * size;
  const std::int64_t count = keys.end - keys.begin;
  out.resize(static_cast<std::size_t>(call.n_kv * count) * row);
  for (std::int64_t s = 0; s < call.span_count; ++s) {
    const AssayKvSpan& span = call.spans[s];
    const auto* const base = static_cast<const std::uint8_t*>(values ? span.v : span.k);
    const std::int64_t head_stride = values ? span.v_head_stride : span.k_head_stride;
    const std::int64_t row_stride = values ? span.v_row_stride : span.k_row_stride;
    for (std::int64_t h = 0; h < call.n_kv; ++h) {
      for (std::int64_t p = std::max(span.first, keys.begin); p < std::min(span.first + span.count, keys.end); ++p) {
        const std::int64_t from = h * head_stride + (p - span.first) * row_stride;
        std::memcpy(out.data() + static_cast<std::size_t>(h * count + p - keys.begin) * row,
                    base + from * static_cast<std::int64_t>(size), row);
      }
    }
  }
}

// [rows, keys]: 0, or -inf where a query may not look.
void make_mask(const AttentionArgs& call, KeyRange keys, std::int64_t rows, std::vector<ggml_fp16_t>& mask) {
  constexpr std::int64_t kPadding = 64;
  const ggml_fp16_t closed = ggml_fp32_to_fp16(-INFINITY);
  const std::int64_t count = keys.end - keys.begin;
  mask.assign(static_cast<std::size_t>((rows + kPadding) * count), closed);
  for (std::int64_t j = 0; j < rows; ++j) {
    const KeyRange open = unmasked_keys(call, call.position + j);
    for (std::int64_t p = open.begin; p < open.end; ++p)
      mask[static_cast<std::size_t>(j * count + p - keys.begin)] = ggml_fp32_to_fp16(0.0F);
  }
}

void store(const AttentionArgs& call, Rows rows, const float* result) {
  for (std::int64_t j = 0; j < rows.count; ++j) {
    for (std::int64_t h = 0; h < call.n_heads; ++h) {
      float* const y = call.y + j * rows.y_stride + h * call.y_head_stride;
      const auto bytes = static_cast<std::size_t>(call.head_dim * kFloat);
      if (result == nullptr) {
        std::memset(y, 0, bytes);
      } else {
        std::memcpy(y, result + (j * call.n_heads + h) * call.head_dim, bytes);
      }
    }
  }
}

template <bool kDecode, ggml_type kCache>
AssayStatus flash_attn_ext(const void* args) {
  const auto& call = *static_cast<const AttentionArgs*>(args);
  if (!sizes_fit(call) || (kDecode && call.rows != 1)) return ASSAY_BAD_SHAPE;
  const Rows rows = rows_of(call, kDecode);
  const AssayStatus status = check_attention(call);
  if (status != ASSAY_OK || call.n_heads == 0 || rows.count == 0) return status;
  const KeyRange keys{unmasked_keys(call, call.position).begin, unmasked_keys(call, call.position + rows.count - 1).end};
  if (keys.begin >= keys.end) {  // a tensor of ggml has at least one element
    store(call, rows, nullptr);
    return ASSAY_OK;
  }
  static thread_local std::vector<std::uint8_t> k_rows;
  static thread_local std::vector<std::uint8_t> v_rows;
  static thread_local std::vector<ggml_fp16_t> mask_rows;
  const std::size_t size = ggml_type_size(kCache);
  gather(call, keys, false, size, k_rows);
  gather(call, keys, true, size, v_rows);
  make_mask(call, keys, rows.count, mask_rows);

  const Graph graph;
  const std::int64_t count = keys.end - keys.begin;
  const auto row_bytes = call.head_dim * static_cast<std::int64_t>(size);
  ggml_tensor* const q = graph.wrap_3d(GGML_TYPE_F32, call.head_dim, rows.count, call.n_heads, call.q, rows.q_stride * kFloat,
                                       call.q_head_stride * kFloat);
  ggml_tensor* const k = graph.wrap_3d(kCache, call.head_dim, count, call.n_kv, k_rows.data(), row_bytes, count * row_bytes);
  ggml_tensor* const v = graph.wrap_3d(kCache, call.head_dim, count, call.n_kv, v_rows.data(), row_bytes, count * row_bytes);
  ggml_tensor* const mask = graph.wrap(GGML_TYPE_F16, count, rows.count, mask_rows.data());
  ggml_tensor* const y = ggml_flash_attn_ext(graph.context(), q, k, v, mask, call.scale, 0.0F, 0.0F);
  ggml_prec_set_acc(y, GGML_PREC_F32);  // as llama.cpp asks for it
  const bool computed = graph.compute(graph.into_scratch(y));
  if (computed) store(call, rows, graph.scratch());
  return done(computed);
}

}  // namespace

void append_attention(std::vector<AssayPluginKernel>& kernels) {
  constexpr const char* kName = "flash_attn_ext";
  kernels.insert(kernels.end(), {plain_kernel("attn_decode_f32", kName, flash_attn_ext<true, GGML_TYPE_F32>),
                                 plain_kernel("attn_decode_f16", kName, flash_attn_ext<true, GGML_TYPE_F16>),
                                 plain_kernel("attn_prefill_f32", kName, flash_attn_ext<false, GGML_TYPE_F32>),
                                 plain_kernel("attn_prefill_f16", kName, flash_attn_ext<false, GGML_TYPE_F16>)});
}

}  // namespace assay::plugins
