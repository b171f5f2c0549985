#include "engine/kv/rows.h"

#include <string>

#include "reference/ops/find.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

const AnyKernel* kernel(KvForm form, DType type) {
  return &select_kernel(*kv_op(form, type).table);
}

// The caches compute every argument themselves, so a refusal is a mistake of theirs.
void run(const AnyKernel& kernel, const void* args) {
  const AssayStatus status = kernel.run(args);
  if (status != ASSAY_OK)
    throw std::logic_error(std::string(kernel.name) + " refused a cache's arguments: " + std::string(status_name(status)));
}

void* row_at(const KvShape& shape, const KvPlace& place) {
  return static_cast<char*>(place.base) + place.slot * kv_row_bytes(shape);
}

}  // namespace

KvStoreArgs store_args(const KvShape& shape, const KvTarget& target, const KvRows& rows, std::int64_t first, std::int64_t heads) {
  KvStoreArgs args{};
  args.src = rows.data + target.token * rows.row_stride;
  args.dst = static_cast<char*>(target.base) + first * target.capacity * kv_row_bytes(shape);
  args.tokens = target.tokens;
  args.n_kv = heads;
  args.head_dim = shape.head_dim;
  args.head_dim_padded = shape.head_dim_padded;
  args.capacity = target.capacity;
  args.position = target.slot;
  args.src_row_stride = rows.row_stride;
  args.src_head_stride = rows.head_stride;
  return args;
}

KvRowKernels::KvRowKernels(const KvShape& shape)
    : shape_(shape),
      store_(kernel(KvForm::store, shape.type)),
      copy_(kernel(KvForm::copy, shape.type)),
      repack_(kernel(KvForm::repack, shape.type)) {}

void KvRowKernels::store(const KvTarget& target, const KvRows& rows) const {
  const KvStoreArgs args = store_args(shape_, target, rows, 0, shape_.n_kv);
  run(*store_, &args);
}

// Padding goes along: its zeros are part of the layout.
void KvRowKernels::copy(const KvPlace& from, const KvPlace& to, std::int64_t positions) const {
  const std::int64_t row = shape_.head_dim_padded;
  const KvCopyArgs args{
      row_at(shape_, from), row_at(shape_, to), shape_.n_kv, positions, row, from.capacity * row, row, to.capacity * row, row};
  run(*copy_, &args);
}

void KvRowKernels::repack(void* base, std::int64_t positions, std::int64_t capacity_src, std::int64_t capacity_dst) const {
  const KvRepackArgs args{base, kv_lanes(shape_), shape_.head_dim_padded, positions, capacity_src, capacity_dst};
  run(*repack_, &args);
}

}  // namespace assay
