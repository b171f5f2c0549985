// Rows into and between caches, by the kernels kv_store, kv_copy and kv_repack of the cache's type.
#pragma once

#include <cstdint>

#include "engine/kv/shape.h"
#include "kernels/kernel.h"
#include "kernels/kv_copy_f16/kv_copy_f16.h"
#include "kernels/kv_copy_f32/kv_copy_f32.h"
#include "kernels/kv_repack_f16/kv_repack_f16.h"
#include "kernels/kv_repack_f32/kv_repack_f32.h"
#include "kernels/kv_store_f16/kv_store_f16.h"
#include "kernels/kv_store_f32/kv_store_f32.h"

namespace assay {

// New keys or values of one layer: f32 [tokens, n_kv, head_dim], strides in elements.
struct KvRows {
  const float* data;
  std::int64_t row_stride;
  std::int64_t head_stride;
};

// Where consecutive tokens of a run go: rows slot .. slot + tokens - 1 of a buffer [n_kv, capacity, head_dim_padded].
struct KvTarget {
  void* base;
  std::int64_t capacity;
  std::int64_t slot;
  std::int64_t token;  // the first of them, counted from the run's first
  std::int64_t tokens;
};

// A place in a buffer [n_kv, capacity, head_dim_padded].
struct KvPlace {
  void* base;
  std::int64_t capacity;
  std::int64_t slot;
};

// The variants are chosen once, when a cache is made.
class KvRowKernels {
 public:
  explicit KvRowKernels(const KvShape& shape);
  void store(const KvTarget& target, const KvRows& rows) const;
  void copy(const KvPlace& from, const KvPlace& to, std::int64_t positions) const;
  // All lanes of a cache whose layers lie one after the other, in place.
  void repack(void* base, std::int64_t positions, std::int64_t capacity_src, std::int64_t capacity_dst) const;

 private:
  KvShape shape_;
  KernelFn<KvStoreF32> store_f32_;
  KernelFn<KvStoreF16> store_f16_;
  KernelFn<KvCopyF32> copy_f32_;
  KernelFn<KvCopyF16> copy_f16_;
  KernelFn<KvRepackF32> repack_f32_;
  KernelFn<KvRepackF16> repack_f16_;
};

}  // namespace assay
