#include "engine/kv/rows.h"

#include <string>

namespace assay {
namespace {

// The caches compute every argument themselves, so a refusal is a mistake of theirs.
void expect_ok(AssayStatus status, const char* op) {
  if (status != ASSAY_OK)
    throw std::logic_error(std::string(op) + " refused a cache's arguments, status " + std::to_string(status));
}

template <class Op, class T>
void store_rows(KernelFn<Op> run, const KvShape& shape, const KvTarget& target, const KvRows& rows) {
  typename Op::Args args{};
  args.src = rows.data + target.token * rows.row_stride;
  args.dst = static_cast<T*>(target.base);
  args.tokens = target.tokens;
  args.n_kv = shape.n_kv;
  args.head_dim = shape.head_dim;
  args.head_dim_padded = shape.head_dim_padded;
  args.capacity = target.capacity;
  args.position = target.slot;
  args.src_row_stride = rows.row_stride;
  args.src_head_stride = rows.head_stride;
  expect_ok(run(&args), Op::name);
}

// Padding goes along: its zeros are part of the layout.
template <class Op, class T>
void copy_rows(KernelFn<Op> run, const KvShape& shape, const KvPlace& from, const KvPlace& to, std::int64_t positions) {
  const std::int64_t row = shape.head_dim_padded;
  typename Op::Args args{};
  args.src = static_cast<const T*>(from.base) + from.slot * row;
  args.dst = static_cast<T*>(to.base) + to.slot * row;
  args.n_kv = shape.n_kv;
  args.positions = positions;
  args.head_dim = row;
  args.src_head_stride = from.capacity * row;
  args.src_row_stride = row;
  args.dst_head_stride = to.capacity * row;
  args.dst_row_stride = row;
  expect_ok(run(&args), Op::name);
}

template <class Op, class T>
void repack_rows(KernelFn<Op> run, const KvShape& shape, void* base, std::int64_t positions, std::int64_t capacity_src,
                 std::int64_t capacity_dst) {
  typename Op::Args args{};
  args.data = static_cast<T*>(base);
  args.n_kv = kv_lanes(shape);
  args.row = shape.head_dim_padded;
  args.positions = positions;
  args.capacity_src = capacity_src;
  args.capacity_dst = capacity_dst;
  expect_ok(run(&args), Op::name);
}

}  // namespace

KvRowKernels::KvRowKernels(const KvShape& shape)
    : shape_(shape),
      store_f32_(select_kernel<KvStoreF32>().run),
      store_f16_(select_kernel<KvStoreF16>().run),
      copy_f32_(select_kernel<KvCopyF32>().run),
      copy_f16_(select_kernel<KvCopyF16>().run),
      repack_f32_(select_kernel<KvRepackF32>().run),
      repack_f16_(select_kernel<KvRepackF16>().run) {}

void KvRowKernels::store(const KvTarget& target, const KvRows& rows) const {
  if (shape_.type == KvType::f32) {
    store_rows<KvStoreF32, float>(store_f32_, shape_, target, rows);
  } else {
    store_rows<KvStoreF16, std::uint16_t>(store_f16_, shape_, target, rows);
  }
}

void KvRowKernels::copy(const KvPlace& from, const KvPlace& to, std::int64_t positions) const {
  if (shape_.type == KvType::f32) {
    copy_rows<KvCopyF32, float>(copy_f32_, shape_, from, to, positions);
  } else {
    copy_rows<KvCopyF16, std::uint16_t>(copy_f16_, shape_, from, to, positions);
  }
}

void KvRowKernels::repack(void* base, std::int64_t positions, std::int64_t capacity_src, std::int64_t capacity_dst) const {
  if (shape_.type == KvType::f32) {
    repack_rows<KvRepackF32, float>(repack_f32_, shape_, base, positions, capacity_src, capacity_dst);
  } else {
    repack_rows<KvRepackF16, std::uint16_t>(repack_f16_, shape_, base, positions, capacity_src, capacity_dst);
  }
}

}  // namespace assay
