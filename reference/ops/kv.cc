#include "reference/kv.h"

#include <algorithm>
#include <stdexcept>

#include "reference/ops/describe.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

using enum FieldKind;
using Store = KvStoreArgs;
using Repack = KvRepackArgs;
using Copy = KvCopyArgs;
using Logits = LogitsCopyToPositionArgs;

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
                                  {"src_head_stride", offsetof(Store, src_head_stride), size, same_as<&Store::head_dim>, true},
                                  {"src_row_stride", offsetof(Store, src_row_stride), size, erased<store_row>, true}};

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
  return call_of({strided(input("src", DType::f32, {a.tokens, a.n_kv, a.head_dim}), {a.src_row_stride, a.src_head_stride, 1})},
                 store_outputs(op, a),
                 {{"tokens", 1, {{"src", 0}, {"dst", 1}}, {}, {{"position", a.position}}},
                  {"n_kv", 1, {{"src", 1}, {"dst", 0}}, {{"src_row_stride", a.src_row_stride}}}});
}

Cost store_cost(const Op& op, const Params&, const Store& a) {
  const double row = 4.0 * static_cast<double>(a.head_dim) + bytes_of(op.from, a.head_dim_padded);
  return {static_cast<double>(a.tokens * a.n_kv) * row, 0};
}

ShapeSpace store_shapes(const Op&) {
  return {
      {{"tokens", 4, 12},
       used({"n_kv", 3, 5}, {Column::kv_heads}),
       used({"head_dim", 80, 160}, {Column::head_dim}),
       {"head_dim_padded", 0, 0, 1, "head_dim"},
       used({"capacity", 64, 200}, {Column::positions}),
       {"position", 0, 60, 1, nullptr, true},
       {"src_head_stride", 0, 0, 1, "head_dim"}},
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
       {{"tokens", 2}, {"n_kv", 6}, {"head_dim", 1}, {"head_dim_padded", 1}, {"capacity", kVastStride}, {"position", 100003}}}};
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
  TensorSpec after = in_place(output("data", op.from, buffer_of(a)), "data");
  after.in_place_only = true;
  return {after};
}
Signature repack_signature(const Op& op, const Params&, const Repack& a) {
  return call_of({input("data", op.from, buffer_of(a))}, repack_outputs(op, a), {});
}

AssayStatus repack_refusal(const Op&, const Repack& a) {
  return a.positions < 0 || a.positions > std::min(a.capacity_src, a.capacity_dst) ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}

// Rows that move are read and written; the others of the new layout are written.
Cost repack_cost(const Op& op, const Params&, const Repack& a) {
  return {bytes_of(op.from, a.n_kv * a.row * (a.positions + a.capacity_dst)), 0};
}

ShapeSpace repack_shapes(const Op&) {
  return {{used({"n_kv", 3, 5}, {Column::kv_heads}),
           used({"row", 64, 160}, {Column::head_dim}),
           {"positions", 10, 12},
           used({"capacity_src", 20, 60}, {Column::positions}),
           used({"capacity_dst", 40, 60}, {Column::positions})},
          {},
          [](Params& params) {
            for (const char* const capacity : {"capacity_src", "capacity_dst"})
              params.set(capacity, std::max(params.integer(capacity), params.integer("positions")));
          }};
}

std::vector<Params> repack_bench_params(const Op&) {
  return {{{"n_kv", 8}, {"row", 128}, {"positions", 1024}, {"capacity_src", 1024}, {"capacity_dst", 2048}},
          {{"n_kv", 8}, {"row", 128}, {"positions", 1024}, {"capacity_src", 2048}, {"capacity_dst", 1024}}};
}

std::int64_t src_head(const Op&, const Params&, const Copy& a) {
  return a.positions * a.src_row_stride;
}
std::int64_t dst_head(const Op&, const Params&, const Copy& a) {
  return a.positions * a.dst_row_stride;
}

constexpr Field kCopyFields[] = {{"src", offsetof(Copy, src), tensor},
                                 {"dst", offsetof(Copy, dst), tensor},
                                 {"n_kv", offsetof(Copy, n_kv), size},
                                 {"positions", offsetof(Copy, positions), size},
                                 {"head_dim", offsetof(Copy, head_dim), size},
                                 {"src_row_stride", offsetof(Copy, src_row_stride), number, same_as<&Copy::head_dim>},
                                 {"dst_row_stride", offsetof(Copy, dst_row_stride), number, same_as<&Copy::head_dim>},
                                 {"src_head_stride", offsetof(Copy, src_head_stride), number, erased<src_head>},
                                 {"dst_head_stride", offsetof(Copy, dst_head_stride), number, erased<dst_head>}};

std::vector<TensorSizes> copy_sizes(const Op&, const Copy& a) {
  const std::vector<std::int64_t> shape{a.n_kv, a.positions, a.head_dim};
  return {{shape, {a.src_head_stride, a.src_row_stride}}, {shape, {a.dst_head_stride, a.dst_row_stride}}};
}

// Heads of rows, or rows of heads: either way none overlap.
void check_heads(const char* name, const Copy& a, std::int64_t head, std::int64_t row) {
  if (head >= a.positions * row || (head >= a.head_dim && row >= a.n_kv * head)) return;
  throw std::invalid_argument(std::string(name) + " = " + std::to_string(head) + ": rows and heads overlap");
}

// A row stride below head_dim is for the kernel to refuse: the tensors then lie dense.
TensorSpec copied(TensorSpec spec, const Copy& a, std::int64_t head, std::int64_t row) {
  return row < a.head_dim ? spec : strided(spec, {head, row, 1});
}
std::vector<TensorSpec> copy_outputs(const Op& op, const Copy& a) {
  return {copied(output("dst", op.from, {a.n_kv, a.positions, a.head_dim}), a, a.dst_head_stride, a.dst_row_stride)};
}
Signature copy_signature(const Op& op, const Params&, const Copy& a) {
  check_heads("src_head_stride", a, a.src_head_stride, a.src_row_stride);
  check_heads("dst_head_stride", a, a.dst_head_stride, a.dst_row_stride);
  return call_of({copied(input("src", op.from, {a.n_kv, a.positions, a.head_dim}), a, a.src_head_stride, a.src_row_stride)},
                 copy_outputs(op, a),
                 {{"n_kv", 1, {{"src", 0}, {"dst", 0}}, {}},
                  {"positions",
                   1,
                   {{"src", 1}, {"dst", 1}},
                   {{"src_head_stride", a.src_head_stride}, {"dst_head_stride", a.dst_head_stride}}}});
}

Cost copy_cost(const Op& op, const Params&, const Copy& a) {
  return {2 * bytes_of(op.from, a.n_kv * a.positions * a.head_dim), 0};
}

ShapeSpace copy_shapes(const Op&) {
  return {{used({"n_kv", 3, 5}, {Column::kv_heads}),
           used({"positions", 10, 40}, {Column::positions}),
           used({"head_dim", 80, 160}, {Column::head_dim}),
           {"src_row_stride", 0, 0, 1, "head_dim"},
           {"dst_row_stride", 0, 0, 1, "head_dim"}},
          {},
          nullptr,
          {{{"n_kv", 3},
            {"positions", 6},
            {"head_dim", 37},
            {"src_row_stride", kVastStride / 4},
            {"dst_row_stride", kVastStride / 4 + 64}}}};
}

std::vector<Params> copy_bench_params(const Op&) {
  return {{{"n_kv", 8}, {"positions", 1024}, {"head_dim", 128}, {"dst_head_stride", 2048 * 128}}};
}

constexpr Field kLogitsFields[] = {
    {"src", offsetof(Logits, src), tensor},        {"dst", offsetof(Logits, dst), tensor},
    {"vocab", offsetof(Logits, vocab), size},      {"positions", offsetof(Logits, positions), size},
    {"position", offsetof(Logits, position), any}, {"dst_stride", offsetof(Logits, dst_stride), number, same_as<&Logits::vocab>}};

std::vector<TensorSizes> logits_sizes(const Op&, const Logits& a) {
  return {TensorSizes{{a.positions, a.vocab}, {a.dst_stride}}};
}

AssayStatus logits_refusal(const Op&, const Logits& a) {
  if (a.dst_stride < a.vocab) return ASSAY_BAD_SHAPE;
  return a.position < 0 || a.position >= a.positions ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}

// The row that is written: the rest of the buffer is its surroundings, which the guard watches.
std::vector<TensorSpec> logits_outputs(const Op& op, const Logits& a) {
  TensorSpec dst = output("dst", DType::f32, {a.vocab});
  if (logits_refusal(op, a) == ASSAY_OK) dst.begin = a.position * a.dst_stride;
  return {dst};
}
Signature logits_signature(const Op& op, const Params&, const Logits& a) {
  return call_of({input("src", DType::f32, {a.vocab})}, logits_outputs(op, a),
                 {{"vocab", 1, {{"src", 0}, {"dst", 0}}, {{"dst_stride", a.dst_stride}}}});
}

Cost logits_cost(const Op&, const Params&, const Logits& a) {
  return {8 * static_cast<double>(a.vocab), 0};
}

ShapeSpace logits_shapes(const Op&) {
  return {
      {used({"vocab", 1000, 3000}, {Column::vocab}), {"positions", 8, 20}, {"position", 3, 12}, {"dst_stride", 0, 0, 1, "vocab"}},
      {},
      [](Params& params) { params.set("positions", std::max(params.integer("positions"), params.integer("position") + 1)); },
      {{{"vocab", 262144 + 5}, {"positions", 40000}, {"position", 39999}}}};
}

std::vector<Params> logits_bench_params(const Op&) {
  return {{{"vocab", 151936}, {"positions", 16}, {"position", 7}}};
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
constexpr Family kCopy = {
    .name = "kv_copy",
    .args = "KvCopyArgs",
    .header = "kernels/kv/kv.h",
    .args_bytes = sizeof(Copy),
    .fields = kCopyFields,
    .sizes = erased<copy_sizes>,
    .signature = erased<copy_signature>,
    .outputs = erased<copy_outputs>,
    .reference = truth_of<reference::kv_copy>,
    .cost = erased<copy_cost>,
    .shapes = copy_shapes,
    .bench_params = copy_bench_params,
};
constexpr Family kLogits = {
    .name = "logits_copy_to_position",
    .args = "LogitsCopyToPositionArgs",
    .header = "kernels/kv/kv.h",
    .args_bytes = sizeof(Logits),
    .fields = kLogitsFields,
    .sizes = erased<logits_sizes>,
    .signature = erased<logits_signature>,
    .outputs = erased<logits_outputs>,
    .refusal = erased<logits_refusal>,
    .reference = truth_of<reference::logits_copy_to_position>,
    .cost = erased<logits_cost>,
    .shapes = logits_shapes,
    .bench_params = logits_bench_params,
};

// By KvForm.
constexpr const Family* kFamilies[] = {&kStore, &kRepack, &kCopy, &kLogits};

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
