#include <cmath>
#include <set>
#include <utility>

#include "reference/ops/describe.h"
#include "reference/rms_norm.h"
#include "reference/softmax.h"

namespace assay {
namespace {

using enum FieldKind;
using Norm = RmsNormArgs;
using Soft = SoftmaxArgs;

constexpr Field kNormFields[] = {{"x", offsetof(Norm, x), tensor},
                                 {"w", offsetof(Norm, w), tensor},
                                 {"y", offsetof(Norm, y), tensor},
                                 {"rows", offsetof(Norm, rows), size},
                                 {"n", offsetof(Norm, n), size},
                                 {"x_stride", offsetof(Norm, x_stride), size, same_as<&Norm::n>, true},
                                 {"y_stride", offsetof(Norm, y_stride), size, same_as<&Norm::n>, true},
                                 {"eps", offsetof(Norm, eps), real32}};
constexpr Field kSoftFields[] = {{"x", offsetof(Soft, x), tensor},
                                 {"y", offsetof(Soft, y), tensor},
                                 {"rows", offsetof(Soft, rows), size},
                                 {"n", offsetof(Soft, n), size},
                                 {"x_stride", offsetof(Soft, x_stride), size, same_as<&Soft::n>, true},
                                 {"y_stride", offsetof(Soft, y_stride), size, same_as<&Soft::n>, true}};

template <class Args>
std::vector<TensorSizes> sizes(const Op&, const Args& a) {
  return {{{a.rows, a.n}, {a.x_stride}}, {{a.rows, a.n}, {a.y_stride}}};
}

template <class Args>
TensorSpec x_of(const Args& a) {
  return strided(input("x", DType::f32, {a.rows, a.n}), {a.x_stride, 1});
}

template <class Args>
std::vector<TensorSpec> outputs(const Op&, const Args& a) {
  const TensorSpec y = strided(output("y", DType::f32, {a.rows, a.n}), {a.y_stride, 1});
  return {a.x_stride == a.y_stride ? in_place(y, {"x"}) : y};
}

Signature norm_signature(const Op& op, const Params&, const Norm& a) {
  return call_of({x_of(a), input("w", DType::f32, {a.n})}, outputs(op, a), {{"rows", 1, {{"x", 0}, {"y", 0}}, {}}});
}
Signature soft_signature(const Op& op, const Params&, const Soft& a) {
  return call_of({x_of(a)}, outputs(op, a), {{"rows", 1, {{"x", 0}, {"y", 0}}, {}}});
}

AssayStatus norm_refusal(const Op&, const Norm& a) {
  return std::isnormal(a.eps) && a.eps > 0 ? ASSAY_OK : ASSAY_BAD_PARAMETER;
}

Cost norm_cost(const Op&, const Params&, const Norm& a) {
  const double n = static_cast<double>(a.n), elements = static_cast<double>(a.rows) * n;
  return {8 * elements + 4 * n, 4 * elements};
}
Cost soft_cost(const Op&, const Params&, const Soft& a) {
  const double elements = static_cast<double>(a.rows) * static_cast<double>(a.n);
  return {8 * elements, 25 * elements};
}

ShapeSpace norm_shapes(const Op&) {
  ShapeSpace space{{{"rows", 3, 9},
                    used({"n", 1000, 1500}, {Column::hidden, Column::head_dim}),
                    {"x_stride", 0, 0, 1, "n"},
                    {"y_stride", 0, 0, 1, "n"}},
                   {{"eps", {1e-6, 1e-5, 0x1p-20, 1e-12, 0.25, 0x1p-126}}},
                   nullptr,
                   {{{"rows", 6}, {"n", 37}, {"x_stride", kVastStride}, {"y_stride", kVastStride + 64}, {"eps", 1e-6}},
                    // The heads of a prompt of 4096 tokens.
                    {{"rows", kCounters.back() + 37}, {"n", 64}, {"eps", 1e-6}}}};
  // Each model's heads, as rows.
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (const Model& model : models()) {
    if (!seen.insert({model[Column::heads], model.head_dim}).second) continue;
    space.together.push_back({{"rows", model[Column::heads]}, {"n", model.head_dim}});
  }
  return space;
}
ShapeSpace soft_shapes(const Op&) {
  Size n = used({"n", 1000, 1200}, {Column::vocab});
  n.cheap = 2;
  return {{{"rows", 3, 6}, n, {"x_stride", 0, 0, 1, "n"}, {"y_stride", 0, 0, 1, "n"}},
          {},
          nullptr,
          {{{"rows", 6}, {"n", 37}, {"x_stride", kVastStride}, {"y_stride", kVastStride + 64}},
           // The scores of 32 heads and 512 tokens.
           {{"rows", 16384 + 5}, {"n", 256}},
           // A batch that is sampled.
           {{"rows", 17}, {"n", 65536 + 40}}}};
}

std::vector<Params> norm_bench_params(const Op&) {
  return {{{"rows", 1}, {"n", 1024}, {"eps", 1e-6}},
          {{"rows", 16}, {"n", 128}, {"eps", 1e-6}},
          {{"rows", 512}, {"n", 1024}, {"eps", 1e-6}}};
}

constexpr Family kNorm = {
    .name = "rms_norm",
    .args = "RmsNormArgs",
    .header = "kernels/norms/norms.h",
    .args_bytes = sizeof(Norm),
    .fields = kNormFields,
    .sizes = erased<sizes<Norm>>,
    .signature = erased<norm_signature>,
    .outputs = erased<outputs<Norm>>,
    .refusal = erased<norm_refusal>,
    .weights = "w",
    .reference = truth_of<reference::rms_norm>,
    .declarable = always<kSums | kLanes | kTrees | kRoot | kResults>,
    .declared = declared_of<reference::declared_rms_norm>,
    .cost = erased<norm_cost>,
    .shapes = norm_shapes,
    .bias_case =
        [](const Op&) {
          return GeneratedCase{{{"rows", 512}, {"n", 512}, {"eps", 0x1p-20}}, {}, 31};
        },
    .long_bias_case =
        [](const Op&) {
          return GeneratedCase{{{"rows", 264}, {"n", 2100}, {"eps", 0x1p-20}}, {}, 31};
        },
    .bench_params = norm_bench_params,
};
constexpr Family kSoftmax = {
    .name = "softmax",
    .args = "SoftmaxArgs",
    .header = "kernels/norms/norms.h",
    .args_bytes = sizeof(Soft),
    .fields = kSoftFields,
    .sizes = erased<sizes<Soft>>,
    .signature = erased<soft_signature>,
    .outputs = erased<outputs<Soft>>,
    .reference = truth_of<reference::softmax>,
    .declarable = always<kSums | kLanes | kTrees | kExponential | kResults>,
    .declared = declared_of<reference::declared_softmax>,
    .cost = erased<soft_cost>,
    .shapes = soft_shapes,
    .bias_case =
        [](const Op&) {
          return GeneratedCase{{{"rows", 512}, {"n", 100}}, {}, 51};
        },
    .long_bias_case =
        [](const Op&) {
          return GeneratedCase{{{"rows", 264}, {"n", 2100}}, {}, 51};
        },
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"rows", 1}, {"n", 4096}}, {{"rows", 16}, {"n", 1024}}};
        },
};

constexpr Op kOps[] = {{kernel_tables::rms_norm.op, &kNorm, &kernel_tables::rms_norm, &reference::kRmsNormContract},
                       {kernel_tables::softmax.op, &kSoftmax, &kernel_tables::softmax, &reference::kSoftmaxContract}};

}  // namespace

std::span<const Op> norm_ops() {
  return kOps;
}

}  // namespace assay
