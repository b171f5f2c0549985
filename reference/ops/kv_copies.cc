#include "reference/ops/kv_copies.h"

#include <algorithm>
#include <stdexcept>

#include "reference/kv.h"
#include "reference/ops/describe.h"

namespace assay {
namespace {

using enum FieldKind;
using Copy = KvCopyArgs;
using Logits = LogitsCopyToPositionArgs;

std::int64_t src_row(const Op&, const Params& params, const Copy& a) {
  return inner_stride(params, "src_head_stride", a.n_kv, a.positions, a.head_dim);
}
std::int64_t dst_row(const Op&, const Params& params, const Copy& a) {
  return inner_stride(params, "dst_head_stride", a.n_kv, a.positions, a.head_dim);
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
                                 {"src_row_stride", offsetof(Copy, src_row_stride), number, erased<src_row>},
                                 {"dst_row_stride", offsetof(Copy, dst_row_stride), number, erased<dst_row>},
                                 {"src_head_stride", offsetof(Copy, src_head_stride), number, erased<src_head>},
                                 {"dst_head_stride", offsetof(Copy, dst_head_stride), number, erased<dst_head>}};

std::vector<TensorSizes> copy_sizes(const Op&, const Copy& a) {
  const std::vector<std::int64_t> shape{a.n_kv, a.positions, a.head_dim};
  return {{shape, {a.src_head_stride, a.src_row_stride}}, {shape, {a.dst_head_stride, a.dst_row_stride}}};
}

AssayStatus copy_refusal(const Op&, const Copy& a) {
  return a.src_row_stride < a.head_dim || a.dst_row_stride < a.head_dim ? ASSAY_BAD_SHAPE : ASSAY_OK;
}

// The tensors of a call that is refused lie dense.
TensorSpec copied(TensorSpec spec, const Copy& a, std::int64_t head, std::int64_t row) {
  return row < a.head_dim ? spec : strided(spec, {head, row, 1});
}
std::vector<TensorSpec> copy_outputs(const Op& op, const Copy& a) {
  return {copied(output("dst", op.from, {a.n_kv, a.positions, a.head_dim}), a, a.dst_head_stride, a.dst_row_stride)};
}
Signature copy_signature(const Op& op, const Params&, const Copy& a) {
  if (a.src_row_stride >= a.head_dim)
    check_apart("src", a.head_dim, {{a.n_kv, a.src_head_stride}, {a.positions, a.src_row_stride}});
  if (a.dst_row_stride >= a.head_dim)
    check_apart("dst", a.head_dim, {{a.n_kv, a.dst_head_stride}, {a.positions, a.dst_row_stride}});
  const std::vector<std::pair<const char*, std::int64_t>> strides{{"src_head_stride", a.src_head_stride},
                                                                  {"src_row_stride", a.src_row_stride},
                                                                  {"dst_head_stride", a.dst_head_stride},
                                                                  {"dst_row_stride", a.dst_row_stride}};
  return call_of({copied(input("src", op.from, {a.n_kv, a.positions, a.head_dim}), a, a.src_head_stride, a.src_row_stride)},
                 copy_outputs(op, a),
                 {{"n_kv", 1, {{"src", 0}, {"dst", 0}}, strides}, {"positions", 1, {{"src", 1}, {"dst", 1}}, strides}});
}

Cost copy_cost(const Op& op, const Params&, const Copy& a) {
  return {2 * bytes_of(op.from, a.n_kv * a.positions * a.head_dim), 0};
}

ShapeSpace copy_shapes(const Op&) {
  return {
      {used({"n_kv", 3, 5}, {Column::kv_heads}),
       used({"positions", 10, 40}, {Column::positions}),
       used({"head_dim", 80, 160}, {Column::head_dim}),
       {"src_row_stride", 0, 0, 1, "head_dim"},
       {"dst_row_stride", 0, 0, 1, "head_dim"},
       instead_of("src_row_stride", {"src_head_stride", 0, 0, 1, "head_dim"}),
       instead_of("dst_row_stride", {"dst_head_stride", 0, 0, 1, "head_dim"})},
      {},
      nullptr,
      {{{"n_kv", 3},
        {"positions", 6},
        {"head_dim", 37},
        {"src_row_stride", kVastStride / 4},
        {"dst_row_stride", kVastStride / 4 + 64}},
       {{"n_kv", 4}, {"positions", 6}, {"head_dim", 37}, {"src_head_stride", kMostNumber}, {"dst_head_stride", kMostNumber - 64}},
       // A context.
       {{"n_kv", 2}, {"positions", 16384 + 37}, {"head_dim", 64}},
       // From positions of heads to heads of positions, and back.
       {{"n_kv", 8},
        {"positions", 1100},
        {"head_dim", 64},
        {"src_row_stride", 512},
        {"src_head_stride", 64},
        {"dst_head_stride", 76800}},
       {{"n_kv", 8},
        {"positions", 1100},
        {"head_dim", 64},
        {"src_head_stride", 76800},
        {"dst_row_stride", 512},
        {"dst_head_stride", 64}}},
      // Heads as wide as attention takes them; two caches of the same capacity, in part filled.
      {{{"n_kv", 3}, {"positions", 3}, {"head_dim", 512}},
       {{"n_kv", 3}, {"positions", 5}, {"head_dim", 12}, {"src_head_stride", 84}, {"dst_head_stride", 84}}}};
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

}  // namespace

const Family kKvCopyFamily = {
    .name = "kv_copy",
    .args = "KvCopyArgs",
    .header = "kernels/kv/kv.h",
    .args_bytes = sizeof(Copy),
    .fields = kCopyFields,
    .sizes = erased<copy_sizes>,
    .signature = erased<copy_signature>,
    .outputs = erased<copy_outputs>,
    .refusal = erased<copy_refusal>,
    .reference = truth_of<reference::kv_copy>,
    .cost = erased<copy_cost>,
    .shapes = copy_shapes,
    .bench_params = copy_bench_params,
};
const Family kLogitsCopyFamily = {
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

}  // namespace assay
