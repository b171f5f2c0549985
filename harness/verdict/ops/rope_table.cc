#include "kernels/rope_table/rope_table.h"

#include "harness/verdict/ops/bind.h"
#include "reference/rope.h"

namespace assay {
namespace {

bool from_frequencies(const Params& params) {
  return params.text("recipe") == "freqs";
}

class RopeTableAdapter final : public OpAdapter<RopeTable, reference::kRopeTableContract, reference::rope_table> {
 public:
  // inv_freq is an input of the recipe `freqs` alone.
  Signature signature(const Params& params) const override {
    const std::int64_t rows = size_of(params, "rows");
    const std::int64_t pairs = size_of(params, "pairs");
    const std::int64_t stride = stride_of(params, "table_stride", pairs);
    Signature signature;
    signature.tensors.push_back(with_data(input("positions", DType::i32, {rows}), {"index", 1, 0, 40960}));
    if (from_frequencies(params)) {
      signature.tensors.push_back(with_data(input("inv_freq", DType::f32, {pairs}), {"uniform"}));
    }
    for (const char* name : {"cos", "sin"}) {
      signature.tensors.push_back(strided(output(name, DType::f32, {rows, pairs}), {stride, 1}));
    }
    signature.splits = {{"rows", 1, {{"positions", 0}, {"cos", 0}, {"sin", 0}}, {}}};
    return signature;
  }

  RopeTableArgs bind(const Params& params, std::span<void* const> tensors) const override {
    const std::int64_t pairs = params.integer("pairs");
    const std::size_t first = from_frequencies(params) ? 2 : 1;
    return {pointer<const std::int32_t>(tensors, 0),
            first == 2 ? pointer<const float>(tensors, 1) : nullptr,
            pointer<float>(tensors, first),
            pointer<float>(tensors, first + 1),
            params.integer("rows"),
            pairs,
            params.integer_or("table_stride", pairs),
            params.has("theta") ? params.real("theta") : 0.0,
            enumerator(params, "recipe", {"f64", "hf", "ggml", "freqs"})};
  }

  ShapeSpace shape_space() const override {
    return {{{"rows", 5, 20}, {"pairs", 64, 70}, {"table_stride", 0, 0, 1, "pairs"}},
            {{"recipe", {std::string("f64"), std::string("hf"), std::string("ggml"), std::string("freqs")}},
             {"theta", {1e6, 1e4, 5e6, 5e5}}}};
  }
  // Cosines near 1 all round up: a correct table leans by itself.
  GeneratedCase bias_case() const override { return {}; }

  Cost cost(const Params& params) const override {
    const double elements = params.real("rows") * params.real("pairs");
    return {8 * elements + 4 * params.real("rows"), 0};
  }
  std::vector<Params> bench_params() const override {
    return {{{"rows", 512}, {"pairs", 64}, {"recipe", std::string("f64")}, {"theta", 1e6}}};
  }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(rope_table, RopeTableAdapter)
