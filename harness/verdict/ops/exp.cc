#include "kernels/exp/exp.h"

#include "harness/verdict/ops/bind.h"
#include "reference/elementwise.h"

namespace assay {
namespace {

class ExpAdapter final : public OpAdapter<Exp, reference::kExpContract, reference::exp> {
 public:
  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    return {{input("x", DType::f32, {n}), in_place(output("y", DType::f32, {n}), "x")}, {{"n", 1, {{"x", 0}, {"y", 0}}, {}}}};
  }

  ExpArgs bind(const Params& params, std::span<void* const> tensors) const override {
    return {pointer<const float>(tensors, 0), pointer<float>(tensors, 1), params.integer("n")};
  }

  ShapeSpace shape_space() const override { return {{{"n", 1000, 3000}}, {}}; }
  // The canonical polynomial leans to one side by itself; what a kernel adds to it shows in E.
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override { return {8.0 * params.real("n"), 22.0 * params.real("n")}; }
  std::vector<Params> bench_params() const override { return {{{"n", 3072}}}; }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(exp, ExpAdapter)
