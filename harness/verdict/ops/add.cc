#include "kernels/add/add.h"

#include "harness/verdict/ops/bind.h"
#include "reference/elementwise.h"

namespace assay {
namespace {

class AddAdapter final : public OpAdapter<Add, reference::kAddContract, reference::add> {
 public:
  Signature signature(const Params& params) const override {
    const std::int64_t n = size_of(params, "n");
    return {{input("a", DType::f32, {n}), input("b", DType::f32, {n}), in_place(output("y", DType::f32, {n}), "a")},
            {{"n", 1, {{"a", 0}, {"b", 0}, {"y", 0}}, {}}}};
  }

  AddArgs bind(const Params& params, std::span<void* const> tensors) const override {
    return {pointer<const float>(tensors, 0), pointer<const float>(tensors, 1), pointer<float>(tensors, 2), params.integer("n")};
  }

  ShapeSpace shape_space() const override { return {{{"n", 1000, 3000}}, {}}; }
  GeneratedCase bias_case() const override { return {{{"n", 32768}}, {}, 12}; }
  Cost cost(const Params& params) const override { return {12.0 * params.real("n"), params.real("n")}; }
  std::vector<Params> bench_params() const override { return {{{"n", 1024}}, {{"n", 512 * 1024}}}; }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(add, AddAdapter)
