#include "reference/elementwise.h"
#include "reference/ops/describe.h"

namespace assay {
namespace {

using enum FieldKind;
using Gate = SwigluArgs;

constexpr Field kExpFields[] = {
    {"x", offsetof(ExpArgs, x), tensor}, {"y", offsetof(ExpArgs, y), tensor}, {"n", offsetof(ExpArgs, n), size}};
constexpr Field kAddFields[] = {{"a", offsetof(AddArgs, a), tensor},
                                {"b", offsetof(AddArgs, b), tensor},
                                {"y", offsetof(AddArgs, y), tensor},
                                {"n", offsetof(AddArgs, n), size}};
constexpr Field kGateFields[] = {{"gate", offsetof(Gate, gate), tensor},
                                 {"up", offsetof(Gate, up), tensor},
                                 {"y", offsetof(Gate, y), tensor},
                                 {"rows", offsetof(Gate, rows), size},
                                 {"n", offsetof(Gate, n), size},
                                 {"gate_stride", offsetof(Gate, gate_stride), size, same_as<&Gate::n>, true},
                                 {"up_stride", offsetof(Gate, up_stride), size, same_as<&Gate::n>, true},
                                 {"y_stride", offsetof(Gate, y_stride), size, same_as<&Gate::n>, true}};

std::vector<TensorSizes> exp_sizes(const Op&, const ExpArgs& a) {
  return {TensorSizes{{a.n}}};
}
std::vector<TensorSizes> add_sizes(const Op&, const AddArgs& a) {
  return {TensorSizes{{a.n}}};
}
std::vector<TensorSizes> gate_sizes(const Op&, const Gate& a) {
  return {{{a.rows, a.n}, {a.gate_stride}}, {{a.rows, a.n}, {a.up_stride}}, {{a.rows, a.n}, {a.y_stride}}};
}

std::vector<TensorSpec> exp_outputs(const Op&, const ExpArgs& a) {
  return {in_place(output("y", DType::f32, {a.n}), {"x"})};
}
std::vector<TensorSpec> add_outputs(const Op&, const AddArgs& a) {
  return {in_place(output("y", DType::f32, {a.n}), {"a", "b"})};
}
std::vector<TensorSpec> gate_outputs(const Op&, const Gate& a) {
  const TensorSpec y = strided(output("y", DType::f32, {a.rows, a.n}), {a.y_stride, 1});
  std::vector<std::string> aliases;
  if (a.gate_stride == a.y_stride) aliases.emplace_back("gate");
  if (a.up_stride == a.y_stride) aliases.emplace_back("up");
  return {in_place(y, std::move(aliases))};
}

Signature exp_signature(const Op& op, const Params&, const ExpArgs& a) {
  return call_of({input("x", DType::f32, {a.n})}, exp_outputs(op, a), {{"n", 1, {{"x", 0}, {"y", 0}}, {}}});
}
Signature add_signature(const Op& op, const Params&, const AddArgs& a) {
  return call_of({input("a", DType::f32, {a.n}), input("b", DType::f32, {a.n})}, add_outputs(op, a),
                 {{"n", 1, {{"a", 0}, {"b", 0}, {"y", 0}}, {}}});
}
Signature gate_signature(const Op& op, const Params&, const Gate& a) {
  return call_of({strided(input("gate", DType::f32, {a.rows, a.n}), {a.gate_stride, 1}),
                  strided(input("up", DType::f32, {a.rows, a.n}), {a.up_stride, 1})},
                 gate_outputs(op, a), {{"rows", 1, {{"gate", 0}, {"up", 0}, {"y", 0}}, {}}});
}

Cost exp_cost(const Op&, const Params&, const ExpArgs& a) {
  const auto n = static_cast<double>(a.n);
  return {8 * n, 22 * n};
}
Cost add_cost(const Op&, const Params&, const AddArgs& a) {
  const auto n = static_cast<double>(a.n);
  return {12 * n, n};
}
Cost gate_cost(const Op&, const Params&, const Gate& a) {
  const double elements = static_cast<double>(a.rows) * static_cast<double>(a.n);
  return {12 * elements, 25 * elements};
}

ShapeSpace flat_shapes(const Op&) {
  return {{used({"n", 1000, 3000}, {Column::hidden, Column::ffn})}, {}};
}
ShapeSpace gate_shapes(const Op&) {
  return {
      {{"rows", 3, 6},
       used({"n", 1000, 1200}, {Column::ffn}),
       {"gate_stride", 0, 0, 1, "n"},
       {"up_stride", 0, 0, 1, "n"},
       {"y_stride", 0, 0, 1, "n"}},
      {},
      nullptr,
      {{{"rows", 6}, {"n", 37}, {"gate_stride", kVastStride}, {"up_stride", kVastStride + 4096}, {"y_stride", kVastStride + 64}},
       {{"rows", 1}, {"n", 24576 + 37}},
       {{"rows", 1}, {"n", 49152 + 37}}}};
}

// No bias case: the canonical polynomial leans to one side by itself; what a kernel adds to it shows in E.
constexpr Family kExp = {
    .name = "exp",
    .args = "ExpArgs",
    .header = "kernels/activations/activations.h",
    .args_bytes = sizeof(ExpArgs),
    .fields = kExpFields,
    .sizes = erased<exp_sizes>,
    .signature = erased<exp_signature>,
    .outputs = erased<exp_outputs>,
    .reference = truth_of<reference::exp>,
    .declarable = always<kExponential | kResults>,
    .declared = declared_of<reference::declared_exp>,
    .cost = erased<exp_cost>,
    .shapes = flat_shapes,
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"n", 3072}}};
        },
};
constexpr Family kAdd = {
    .name = "add",
    .args = "AddArgs",
    .header = "kernels/activations/activations.h",
    .args_bytes = sizeof(AddArgs),
    .fields = kAddFields,
    .sizes = erased<add_sizes>,
    .signature = erased<add_signature>,
    .outputs = erased<add_outputs>,
    .reference = truth_of<reference::add>,
    .declarable = always<kResults>,
    .declared = declared_of<reference::declared_add>,
    .cost = erased<add_cost>,
    .shapes = flat_shapes,
    .bias_case =
        [](const Op&) {
          return GeneratedCase{{{"n", 32768}}, {}, 12};
        },
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"n", 1024}}, {{"n", 512 * 1024}}};
        },
};
constexpr Family kSwiglu = {
    .name = "swiglu",
    .args = "SwigluArgs",
    .header = "kernels/activations/activations.h",
    .args_bytes = sizeof(Gate),
    .fields = kGateFields,
    .sizes = erased<gate_sizes>,
    .signature = erased<gate_signature>,
    .outputs = erased<gate_outputs>,
    .reference = truth_of<reference::swiglu>,
    .declarable = always<kExponential | kResults>,
    .declared = declared_of<reference::declared_swiglu>,
    .cost = erased<gate_cost>,
    .shapes = gate_shapes,
    .bias_case =
        [](const Op&) {
          return GeneratedCase{{{"rows", 16}, {"n", 1024}}, {}, 41};
        },
    .long_bias_case =
        [](const Op&) {
          return GeneratedCase{{{"rows", 2}, {"n", 2304}}, {}, 41};
        },
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"rows", 1}, {"n", 3072}}, {{"rows", 512}, {"n", 3072}}};
        },
};

constexpr Op kOps[] = {{kernel_tables::exp.op, &kExp, &kernel_tables::exp, &reference::kExpContract},
                       {kernel_tables::add.op, &kAdd, &kernel_tables::add, &reference::kAddContract},
                       {kernel_tables::swiglu.op, &kSwiglu, &kernel_tables::swiglu, &reference::kSwigluContract}};

}  // namespace

std::span<const Op> activation_ops() {
  return kOps;
}

}  // namespace assay
