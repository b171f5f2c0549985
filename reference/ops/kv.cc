#include "reference/kv.h"

#include <algorithm>
#include <array>

#include "reference/ops/describe.h"
#include "reference/ops/find.h"
#include "reference/ops/kv_copies.h"

namespace assay {
namespace {

using enum FieldKind;
using Store = KvStoreArgs;
using Repack = KvRepackArgs;

std::int64_t store_head(const Op&, const Params& params, const Store& a) {
  return inner_stride(params, "src_row_stride", a.tokens, a.n_kv, a.head_dim);
}
std::int64_t store_row(const Op&, const Params&, const Store& a) {
  return a.n_kv * a.src_head_stride;
}

constexpr Field kStoreFields[] = {{"src", offsetof(Store, src), tensor},
                                  {"dst", offsetof(Store, dst), tensor},
                                  {"tokens", offsetof(Store, tokens), size},
                                  {"n_kv", offsetof(Store, n_kv), size},
                                  {"head_dim", offsetof(Store, head_dim), size},
                                  {"head_dim_padded", offsetof(Store, head_dim_padded), number, same_as<&Store::head_dim>},
                                  {"capacity", offsetof(Store, capacity), size},
                                  {"position", offsetof(Store, position), any, constant<0>},
                                  {"src_head_stride", offsetof(Store, src_head_stride), size, erased<store_head>, true},
                                  {"src_row_stride", offsetof(Store, src_row_stride), size, erased<store_row>}};

std::vector<TensorSizes> store_sizes(const Op&, const Store& a) {
  return {{{a.tokens, a.n_kv, a.head_dim}, {a.src_row_stride, a.src_head_stride}}, {{a.n_kv, a.capacity, a.head_dim_padded}}};
}

AssayStatus store_refusal(const Op&, const Store& a) {
  if (a.head_dim > a.head_dim_padded) return ASSAY_BAD_SHAPE;
  return a.position < 0 || a.position > a.capacity - a.tokens ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}

// The rows that are written: the rest of the cache is their surroundings, which the guard watches. Heads are a whole call apart even
// where the cache is too small for it: such a call is refused.
std::vector<TensorSpec> store_outputs(const Op& op, const Store& a) {
  const std::int64_t head_stride = std::max(a.capacity, a.tokens) * a.head_dim_padded;
  TensorSpec dst = strided(output("dst", op.from, {a.n_kv, a.tokens, a.head_dim_padded}), {head_stride, a.head_dim_padded, 1});
  if (store_refusal(op, a) == ASSAY_OK) dst.begin = a.position * a.head_dim_padded;
  return {dst};
}

Signature store_signature(const Op& op, const Params&, const Store& a) {
  check_apart("src", a.head_dim, {{a.tokens, a.src_row_stride}, {a.n_kv, a.src_head_stride}});
  const std::vector<std::pair<const char*, std::int64_t>> strides{{"src_row_stride", a.src_row_stride},
                                                                  {"src_head_stride", a.src_head_stride}};
  return call_of({strided(input("src", DType::f32, {a.tokens, a.n_kv, a.head_dim}), {a.src_row_stride, a.src_head_stride, 1})},
                 store_outputs(op, a),
                 {{"tokens", 1, {{"src", 0}, {"dst", 1}}, strides, {{"position", a.position}}},
                  {"n_kv", 1, {{"src", 1}, {"dst", 0}}, strides}});
}

Cost store_cost(const Op& op, const Params&, const Store& a) {
  const double row = 4.0 * static_cast<double>(a.head_dim) + bytes_of(op.from, a.head_dim_padded);
  return {static_cast<double>(a.tokens * a.n_kv) * row, 0};
}

ShapeSpace store_shapes(const Op&) {
  ShapeSpace space{
      {{"tokens", 4, 12},
       used({"n_kv", 3, 5}, {Column::kv_heads}),
       used({"head_dim", 80, 160}, {Column::head_dim}),
       {"head_dim_padded", 0, 0, 1, "head_dim"},
       used({"capacity", 64, 200}, {Column::positions}),
       used({"position", 0, 60, 1, nullptr, true}, {Column::positions}),
       {"src_head_stride", 0, 0, 1, "head_dim"},
       instead_of("src_head_stride", {"src_row_stride", 0, 0, 1, "head_dim"})},
      {},
      [](Params& params) {
        const std::int64_t end = params.integer_or("position", 0) + params.integer("tokens");
        params.set("capacity", std::max(params.integer("capacity"), end));
      },
      {{{"tokens", 5},
        {"n_kv", 6},
        {"head_dim", 37},
        {"head_dim_padded", 37},
        {"capacity", kVastStride / 37},
        {"position", 100003},
        {"src_head_stride", kVastStride / 8}},
       {{"tokens", 4},
        {"n_kv", 2},
        {"head_dim", 37},
        {"head_dim_padded", 37},
        {"capacity", 64},
        {"position", 3},
        {"src_row_stride", kMostNumber}},
       {{"tokens", 2}, {"n_kv", 6}, {"head_dim", 1}, {"head_dim_padded", 1}, {"capacity", kVastStride}, {"position", 100003}},
       // A prompt of a model.
       {{"tokens", 1100}, {"n_kv", 4}, {"head_dim", 64}, {"head_dim_padded", 64}, {"capacity", 1200}, {"position", 3}}}};
  // What is padded, too, by every remainder.
  for (std::int64_t r = 0; r < 16; ++r)
    space.together.push_back({{"tokens", 2}, {"n_kv", 2}, {"head_dim", 33}, {"head_dim_padded", 48 + r}, {"capacity", 8}});
  // Heads as wide as attention takes them.
  space.together.push_back({{"tokens", 3}, {"n_kv", 3}, {"head_dim", 512}, {"capacity", 8}});
  return space;
}

std::vector<Params> store_bench_params(const Op&) {
  return {{{"tokens", 1}, {"n_kv", 8}, {"head_dim", 128}, {"capacity", 4096}, {"position", 1000}},
          {{"tokens", 512}, {"n_kv", 8}, {"head_dim", 128}, {"capacity", 4096}, {"position", 1000}}};
}

constexpr Field kRepackFields[] = {{"data", offsetof(Repack, data), tensor},
                                   {"n_kv", offsetof(Repack, n_kv), size},
                                   {"row", offsetof(Repack, row), size},
                                   {"positions", offsetof(Repack, positions), any},
                                   {"capacity_src", offsetof(Repack, capacity_src), size},
                                   {"capacity_dst", offsetof(Repack, capacity_dst), size}};

std::vector<TensorSizes> repack_sizes(const Op&, const Repack& a) {
  return {{{a.n_kv, a.capacity_src, a.row}}, {{a.n_kv, a.capacity_dst, a.row}}};
}

// The whole buffer as rows, [n_kv * max(capacity_src, capacity_dst), row]: what lies past the new layout must keep its bytes.
std::vector<std::int64_t> buffer_of(const Repack& a) {
  return {a.n_kv * std::max(a.capacity_src, a.capacity_dst), a.row};
}
std::vector<TensorSpec> repack_outputs(const Op& op, const Repack& a) {
  TensorSpec after = in_place(output("data", op.from, buffer_of(a)), {"data"});
  after.in_place_only = true;
  return {after};
}
Signature repack_signature(const Op& op, const Params&, const Repack& a) {
  return call_of({input("data", op.from, buffer_of(a))}, repack_outputs(op, a), {});
}

AssayStatus repack_refusal(const Op&, const Repack& a) {
  return a.positions < 0 || a.positions > std::min(a.capacity_src, a.capacity_dst) ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}

// Rows that move are read and written; the others of the new layout are written. Calls to be refused have capacities near 2^63.
Cost repack_cost(const Op& op, const Params&, const Repack& a) {
  return {bytes_of(op.from, a.n_kv * a.row) * (static_cast<double>(a.positions) + static_cast<double>(a.capacity_dst)), 0};
}

ShapeSpace repack_shapes(const Op&) {
  ShapeSpace space{{used({"n_kv", 3, 5}, {Column::kv_heads}), used({"row", 64, 160}, {Column::head_dim}),
                    used({"positions", 10, 12}, {Column::positions}), used({"capacity_src", 20, 60}, {Column::positions}),
                    used({"capacity_dst", 40, 60}, {Column::positions})},
                   {},
                   [](Params& params) {
                     const std::int64_t positions = params.integer("positions");
                     const std::int64_t from = params.integer("capacity_src");
                     const std::int64_t to = params.integer("capacity_dst");
                     const std::int64_t more = std::max(from, to) <= positions ? 3 : 0;  // or nothing moves
                     params.set("capacity_src", std::max(from, positions));
                     params.set("capacity_dst", std::max(to, positions + more));
                   }};
  space.sizes.front().cheap = 2;  // the first head stays where it is
  // Heads that move, up and down, past what 16 bits count: of positions, of a head's numbers, of capacities alone.
  const std::int64_t most = kCounters.back();
  for (const auto& [row, positions, least] :
       {std::array{std::int64_t{1}, most + 44, most + 44}, {75, 900, 900}, {4, 7, most + 44}}) {
    for (const std::int64_t up : {0, 20})
      space.together.push_back(
          {{"n_kv", 2}, {"row", row}, {"positions", positions}, {"capacity_src", least + 20 - up}, {"capacity_dst", least + up}});
  }
  // A model's.
  space.together.push_back({{"n_kv", 8}, {"row", 64}, {"positions", 520}, {"capacity_src", 530}, {"capacity_dst", 600}});
  return space;
}

std::vector<Params> repack_bench_params(const Op&) {
  return {{{"n_kv", 8}, {"row", 128}, {"positions", 1024}, {"capacity_src", 1024}, {"capacity_dst", 2048}},
          {{"n_kv", 8}, {"row", 128}, {"positions", 1024}, {"capacity_src", 2048}, {"capacity_dst", 1024}}};
}

constexpr Family kStore = {
    .name = "kv_store",
    .args = "KvStoreArgs",
    .header = "kernels/kv/kv.h",
    .args_bytes = sizeof(Store),
    .fields = kStoreFields,
    .sizes = erased<store_sizes>,
    .signature = erased<store_signature>,
    .outputs = erased<store_outputs>,
    .refusal = erased<store_refusal>,
    .reference = truth_of<reference::kv_store>,
    .cost = erased<store_cost>,
    .shapes = store_shapes,
    .bench_params = store_bench_params,
};
constexpr Family kRepack = {
    .name = "kv_repack",
    .args = "KvRepackArgs",
    .header = "kernels/kv/kv.h",
    .args_bytes = sizeof(Repack),
    .fields = kRepackFields,
    .sizes = erased<repack_sizes>,
    .signature = erased<repack_signature>,
    .outputs = erased<repack_outputs>,
    .refusal = erased<repack_refusal>,
    .reference = truth_of<reference::kv_repack>,
    .cost = erased<repack_cost>,
    .shapes = repack_shapes,
    .bench_params = repack_bench_params,
};
// By KvForm.
constexpr const Family* kFamilies[] = {&kStore, &kRepack, &kKvCopyFamily, &kLogitsCopyFamily};

constexpr const reference::Contract* contract_of(KvForm form, bool half) {
  if (form == KvForm::store) return half ? &reference::kKvStoreF16Contract : &reference::kKvStoreF32Contract;
  if (form == KvForm::repack) return half ? &reference::kKvRepackF16Contract : &reference::kKvRepackF32Contract;
  if (form == KvForm::copy) return half ? &reference::kEveryF16Contract : &reference::kEveryF32Contract;
  return &reference::kLogitsCopyToPositionContract;
}

constexpr Op row(const OpTable& table, KvForm form, DType cache) {
  const int at = static_cast<int>(form);
  return {table.op, kFamilies[at], &table, contract_of(form, cache == DType::f16), cache, cache, at};
}

constexpr Op kOps[] = {
#define ASSAY_GROUP(group, args, isas)
#define ASSAY_OP(op, form, cache) row(kernel_tables::op, KvForm::form, DType::cache),
#include "kernels/kv/ops.inc"
};

}  // namespace

std::span<const Op> kv_ops() {
  return kOps;
}

}  // namespace assay
