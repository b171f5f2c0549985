// Rows into and between caches, by the kernels kv_store, kv_copy and kv_repack of the cache's type.
#pragma once

#include <cstdint>

#include "engine/kv/shape.h"
#include "kernels/op_tables.h"

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

// The store of `heads` heads of all tokens from head `first` on, whose rows begin at rows.data.
KvStoreArgs store_args(const KvShape& shape, const KvTarget& target, const KvRows& rows, std::int64_t first, std::int64_t heads);

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
  const AnyKernel* store_;
  const AnyKernel* copy_;
  const AnyKernel* repack_;
};

}  // namespace assay
