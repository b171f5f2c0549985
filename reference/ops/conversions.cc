#include "reference/conversions.h"

#include "reference/ops/describe.h"

namespace assay {
namespace {

using A = ConvertArgs;
using enum FieldKind;

constexpr Field kFields[] = {{"src", offsetof(A, src), tensor}, {"dst", offsetof(A, dst), tensor}, {"n", offsetof(A, n), size}};

std::vector<TensorSizes> sizes(const Op&, const A& a) {
  return {TensorSizes{{a.n}}};
}

std::vector<TensorSpec> outputs(const Op& op, const A& a) {
  return {output("dst", op.to, {a.n})};
}

Signature signature(const Op& op, const Params&, const A& a) {
  return call_of({input("src", op.from, {a.n})}, outputs(op, a), {{"n", 1, {{"src", 0}, {"dst", 0}}, {}}});
}

void truth(const Op& op, const A& a, std::span<reference::Expected> out) {
  reference::convert(op.from, op.to, a, out[0]);
}

Cost cost(const Op& op, const Params&, const A& a) {
  return {static_cast<double>(dtype_size(op.from) + dtype_size(op.to)) * static_cast<double>(a.n), 0};
}

constexpr Family kFamily = {
    .name = "conversion",
    .args = "ConvertArgs",
    .header = "kernels/conversions/conversions.h",
    .args_bytes = sizeof(A),
    .fields = kFields,
    .sizes = erased<sizes>,
    .signature = erased<signature>,
    .outputs = erased<outputs>,
    .reference = erased<truth>,
    .cost = erased<cost>,
    .shapes =
        [](const Op&) {
          return ShapeSpace{{used({"n", 1000, 3000}, {Column::hidden, Column::ffn, Column::vocab})}, {}};
        },
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"n", 1024 * 1024}}};
        },
};

constexpr const reference::Contract* contract_of(DType from) {
  if (from == DType::f16) return &reference::kEveryF16Contract;
  return from == DType::bf16 ? &reference::kEveryBf16Contract : &reference::kEveryF32Contract;
}

constexpr Op kOps[] = {
#define ASSAY_GROUP(group, args, isas)
#define ASSAY_OP(op, from, to) {#op, &kFamily, &kernel_tables::op, contract_of(DType::from), DType::from, DType::to},
#include "kernels/conversions/ops.inc"
};

}  // namespace

std::span<const Op> conversion_ops() {
  return kOps;
}

}  // namespace assay
