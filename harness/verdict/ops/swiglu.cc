#include "kernels/swiglu/swiglu.h"

#include "harness/verdict/ops/bind.h"
#include "reference/elementwise.h"

namespace assay {
namespace {

class SwigluAdapter final : public OpAdapter<Swiglu, reference::kSwigluContract, reference::swiglu> {
 public:
  Signature signature(const Params& params) const override {
    const std::int64_t rows = size_of(params, "rows");
    const std::int64_t n = size_of(params, "n");
    const std::int64_t gate_stride = stride_of(params, "gate_stride", n);
    const std::int64_t y_stride = stride_of(params, "y_stride", n);
    TensorSpec y = strided(output("y", DType::f32, {rows, n}), {y_stride, 1});
    if (gate_stride == y_stride) y = in_place(y, "gate");
    return {{strided(input("gate", DType::f32, {rows, n}), {gate_stride, 1}),
             strided(input("up", DType::f32, {rows, n}), {stride_of(params, "up_stride", n), 1}), y},
            {{"rows", 1, {{"gate", 0}, {"up", 0}, {"y", 0}}, {}}}};
  }

  SwigluArgs bind(const Params& params, std::span<void* const> tensors) const override {
    const std::int64_t n = params.integer("n");
    return {pointer<const float>(tensors, 0),
            pointer<const float>(tensors, 1),
            pointer<float>(tensors, 2),
            params.integer("rows"),
            n,
            params.integer_or("gate_stride", n),
            params.integer_or("up_stride", n),
            params.integer_or("y_stride", n)};
  }

  ShapeSpace shape_space() const override {
    return {{{"rows", 3, 6},
             {"n", 1000, 1200},
             {"gate_stride", 0, 0, 1, "n"},
             {"up_stride", 0, 0, 1, "n"},
             {"y_stride", 0, 0, 1, "n"}},
            {}};
  }
  GeneratedCase bias_case() const override { return {{{"rows", 16}, {"n", 1024}}, {}, 41}; }

  Cost cost(const Params& params) const override {
    const double elements = params.real("rows") * params.real("n");
    return {12 * elements, 25 * elements};
  }
  std::vector<Params> bench_params() const override { return {{{"rows", 1}, {"n", 3072}}, {{"rows", 512}, {"n", 3072}}}; }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(swiglu, SwigluAdapter)
