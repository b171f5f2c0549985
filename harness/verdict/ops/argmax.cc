#include "kernels/argmax/argmax.h"

#include "harness/verdict/ops/bind.h"
#include "reference/argmax.h"

namespace assay {
namespace {

class ArgmaxAdapter final : public OpAdapter<Argmax, reference::kArgmaxContract, reference::argmax> {
 public:
  Signature signature(const Params& params) const override {
    return {{input("x", DType::f32, {size_of(params, "n")}), output("index", DType::i32, {1})}, {}};
  }

  ArgmaxArgs bind(const Params& params, std::span<void* const> tensors) const override {
    return {pointer<const float>(tensors, 0), pointer<std::int32_t>(tensors, 1), params.integer("n")};
  }

  ShapeSpace shape_space() const override { return {{{"n", 1000, 3000}}, {}}; }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override { return {4.0 * params.real("n"), 0}; }
  std::vector<Params> bench_params() const override { return {{{"n", 151936}}}; }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(argmax, ArgmaxAdapter)
