#include "kernels/softmax/softmax.h"

#include "harness/verdict/ops/bind.h"
#include "reference/softmax.h"

namespace assay {
namespace {

class SoftmaxAdapter final : public OpAdapter<Softmax, reference::kSoftmaxContract, reference::softmax> {
 public:
  Signature signature(const Params& params) const override {
    const std::int64_t rows = size_of(params, "rows");
    const std::int64_t n = size_of(params, "n");
    const std::int64_t x_stride = stride_of(params, "x_stride", n);
    const std::int64_t y_stride = stride_of(params, "y_stride", n);
    TensorSpec y = strided(output("y", DType::f32, {rows, n}), {y_stride, 1});
    if (x_stride == y_stride) y = in_place(y, "x");
    return {{strided(input("x", DType::f32, {rows, n}), {x_stride, 1}), y}, {{"rows", 1, {{"x", 0}, {"y", 0}}, {}}}};
  }

  SoftmaxArgs bind(const Params& params, std::span<void* const> tensors) const override {
    const std::int64_t n = params.integer("n");
    return {pointer<const float>(tensors, 0), pointer<float>(tensors, 1),      params.integer("rows"), n,
            params.integer_or("x_stride", n), params.integer_or("y_stride", n)};
  }

  ShapeSpace shape_space() const override {
    return {{{"rows", 3, 6}, {"n", 1000, 1200}, {"x_stride", 0, 0, 1, "n"}, {"y_stride", 0, 0, 1, "n"}}, {}};
  }
  GeneratedCase bias_case() const override { return {{{"rows", 512}, {"n", 100}}, {}, 51}; }

  Cost cost(const Params& params) const override {
    const double elements = params.real("rows") * params.real("n");
    return {8 * elements, 25 * elements};
  }
  std::vector<Params> bench_params() const override { return {{{"rows", 1}, {"n", 4096}}, {{"rows", 16}, {"n", 1024}}}; }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(softmax, SoftmaxAdapter)
