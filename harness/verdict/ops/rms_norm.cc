#include "kernels/rms_norm/rms_norm.h"

#include "harness/verdict/ops/bind.h"
#include "reference/rms_norm.h"

namespace assay {
namespace {

class RmsNormAdapter final : public OpAdapter<RmsNorm, reference::kRmsNormContract, reference::rms_norm> {
 public:
  Signature signature(const Params& params) const override {
    const std::int64_t rows = size_of(params, "rows");
    const std::int64_t n = size_of(params, "n");
    const std::int64_t x_stride = stride_of(params, "x_stride", n);
    const std::int64_t y_stride = stride_of(params, "y_stride", n);
    TensorSpec y = strided(output("y", DType::f32, {rows, n}), {y_stride, 1});
    if (x_stride == y_stride) y = in_place(y, "x");
    return {{strided(input("x", DType::f32, {rows, n}), {x_stride, 1}), input("w", DType::f32, {n}), y},
            {{"rows", 1, {{"x", 0}, {"y", 0}}, {}}}};
  }

  RmsNormArgs bind(const Params& params, std::span<void* const> tensors) const override {
    const std::int64_t n = params.integer("n");
    return {pointer<const float>(tensors, 0),
            pointer<const float>(tensors, 1),
            pointer<float>(tensors, 2),
            params.integer("rows"),
            n,
            params.integer_or("x_stride", n),
            params.integer_or("y_stride", n),
            static_cast<float>(params.real("eps"))};
  }

  ShapeSpace shape_space() const override {
    return {{{"rows", 3, 9}, {"n", 1000, 1500}, {"x_stride", 0, 0, 1, "n"}, {"y_stride", 0, 0, 1, "n"}},
            {{"eps", {1e-6, 1e-5, 0x1p-20}}}};
  }
  GeneratedCase bias_case() const override { return {{{"rows", 512}, {"n", 512}, {"eps", 0x1p-20}}, {}, 31}; }

  Cost cost(const Params& params) const override {
    const double elements = params.real("rows") * params.real("n");
    return {8 * elements + 4 * params.real("n"), 4 * elements};
  }
  std::vector<Params> bench_params() const override {
    return {{{"rows", 1}, {"n", 1024}, {"eps", 1e-6}},
            {{"rows", 16}, {"n", 128}, {"eps", 1e-6}},
            {{"rows", 512}, {"n", 1024}, {"eps", 1e-6}}};
  }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(rms_norm, RmsNormAdapter)
