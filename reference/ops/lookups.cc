#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/argmax.h"
#include "reference/embed.h"
#include "reference/ops/describe.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

using enum FieldKind;
using Embed = EmbedArgs;
using Best = ArgmaxArgs;

constexpr Field kEmbedFields[] = {{"table", offsetof(Embed, table), tensor},
                                  {"ids", offsetof(Embed, ids), tensor},
                                  {"y", offsetof(Embed, y), tensor},
                                  {"vocab", offsetof(Embed, vocab), size},
                                  {"rows", offsetof(Embed, rows), size},
                                  {"n", offsetof(Embed, n), size},
                                  {"y_stride", offsetof(Embed, y_stride), size, same_as<&Embed::n>, true}};
constexpr Field kBestFields[] = {
    {"x", offsetof(Best, x), tensor}, {"index", offsetof(Best, index), tensor}, {"n", offsetof(Best, n), size}};

std::vector<TensorSizes> embed_sizes(const Op&, const Embed& a) {
  return {{{a.vocab, a.n}}, {{a.rows, a.n}, {a.y_stride}}};
}
std::vector<TensorSizes> best_sizes(const Op&, const Best& a) {
  return {TensorSizes{{a.n}}};
}

std::vector<TensorSpec> embed_outputs(const Op&, const Embed& a) {
  return {strided(output("y", DType::f32, {a.rows, a.n}), {a.y_stride, 1})};
}
std::vector<TensorSpec> best_outputs(const Op&, const Best&) {
  return {output("index", DType::i32, {1})};
}

Signature embed_signature(const Op& op, const Params&, const Embed& a) {
  return call_of(
      {input("table", op.from, {a.vocab, a.n}), with_data(input("ids", DType::i32, {a.rows}), {"index", 1, 0, a.vocab})},
      embed_outputs(op, a), {{"rows", 1, {{"ids", 0}, {"y", 0}}, {}}});
}
Signature best_signature(const Op& op, const Params&, const Best& a) {
  return call_of({input("x", DType::f32, {a.n})}, best_outputs(op, a), {});
}

AssayStatus embed_refusal(const Op&, const Embed& a) {
  const auto refused = [&](std::int32_t id) { return id < 0 || id >= a.vocab; };
  return std::any_of(a.ids, a.ids + a.rows, refused) ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}
AssayStatus best_refusal(const Op&, const Best& a) {
  if (a.n == 0 || a.n > std::numeric_limits<std::int32_t>::max()) return ASSAY_BAD_SHAPE;
  return std::any_of(a.x, a.x + a.n, [](float x) { return std::isnan(x); }) ? ASSAY_NOT_FINITE : ASSAY_OK;
}

Cost embed_cost(const Op& op, const Params&, const Embed& a) {
  return {(4.0 + static_cast<double>(dtype_size(op.from))) * static_cast<double>(a.rows) * static_cast<double>(a.n), 0};
}
Cost best_cost(const Op&, const Params&, const Best& a) {
  return {4.0 * static_cast<double>(a.n), 0};
}

ShapeSpace embed_shapes(const Op&) {
  return {{used({"vocab", 50, 70}, {Column::vocab}),
           {"rows", 4, 9},
           used({"n", 200, 300}, {Column::hidden}),
           {"y_stride", 0, 0, 1, "n"}},
          {},
          nullptr,
          {{{"vocab", 262144}, {"rows", 24}, {"n", 18432 + 5}},
           {{"vocab", 300}, {"rows", 1100}, {"n", 2048}},
           {{"vocab", 100}, {"rows", 6}, {"n", 37}, {"y_stride", kVastStride}}}};
}

constexpr Family kEmbed = {
    .name = "embed",
    .args = "EmbedArgs",
    .header = "kernels/lookups/lookups.h",
    .args_bytes = sizeof(Embed),
    .fields = kEmbedFields,
    .sizes = erased<embed_sizes>,
    .signature = erased<embed_signature>,
    .outputs = erased<embed_outputs>,
    .refusal = erased<embed_refusal>,
    .weights = "table",
    .reference = truth_of<reference::embed>,
    .cost = erased<embed_cost>,
    .shapes = embed_shapes,
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"vocab", 20000}, {"rows", 512}, {"n", 1024}}};
        },
};
constexpr Family kArgmax = {
    .name = "argmax",
    .args = "ArgmaxArgs",
    .header = "kernels/lookups/lookups.h",
    .args_bytes = sizeof(Best),
    .fields = kBestFields,
    .sizes = erased<best_sizes>,
    .signature = erased<best_signature>,
    .outputs = erased<best_outputs>,
    .refusal = erased<best_refusal>,
    .reference = truth_of<reference::argmax>,
    .cost = erased<best_cost>,
    .shapes =
        [](const Op&) {
          return ShapeSpace{{used({"n", 1000, 3000}, {Column::vocab})}, {}};
        },
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"n", 151936}}};
        },
};

constexpr Op row(const OpTable& table, LookupForm form, DType type) {
  if (form == LookupForm::argmax) {
    return {table.op, &kArgmax, &table, &reference::kArgmaxContract, type, DType::i32, static_cast<int>(form)};
  }
  const auto* contract = type == DType::f16    ? &reference::kEmbedF16Contract
                         : type == DType::bf16 ? &reference::kEmbedBf16Contract
                                               : &reference::kEmbedF32Contract;
  return {table.op, &kEmbed, &table, contract, type, DType::f32, static_cast<int>(form)};
}

constexpr Op kOps[] = {
#define ASSAY_GROUP(group, args, isas)
#define ASSAY_OP(op, form, type) row(kernel_tables::op, LookupForm::form, DType::type),
#include "kernels/lookups/ops.inc"
};

}  // namespace

std::span<const Op> lookup_ops() {
  return kOps;
}

}  // namespace assay
