#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct KvStoreArgs {
  const float* src;
  void* dst;
  int64_t tokens;
  int64_t n_kv;
  int64_t head_dim;
  int64_t head_dim_padded;
  int64_t capacity;
  int64_t position;
  int64_t src_row_stride;
  int64_t src_head_stride;
} KvStoreArgs;

typedef struct KvCopyArgs {
  const void* src;
  void* dst;
  int64_t n_kv;
  int64_t positions;
  int64_t head_dim;
  int64_t src_head_stride;
  int64_t src_row_stride;
  int64_t dst_head_stride;
  int64_t dst_row_stride;
} KvCopyArgs;

typedef struct KvRepackArgs {
  void* data;
  int64_t n_kv;
  int64_t row;
  int64_t positions;
  int64_t capacity_src;
  int64_t capacity_dst;
} KvRepackArgs;

typedef struct LogitsCopyToPositionArgs {
  const float* src;
  float* dst;
  int64_t vocab;
  int64_t positions;
  int64_t position;
  int64_t dst_stride;
} LogitsCopyToPositionArgs;

ASSAY_C_END
