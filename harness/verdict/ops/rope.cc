#include "kernels/rope/rope.h"

#include <algorithm>

#include "harness/verdict/ops/bind.h"
#include "reference/rope.h"

namespace assay {
namespace {

constexpr const char* kSections[4] = {"section0", "section1", "section2", "section3"};

// Rows of heads, or heads of rows: either way no two of them overlap.
std::int64_t row_stride(const Params& params, const char* name, const RopeArgs& args, std::int64_t head_stride) {
  const std::int64_t dense = args.heads * head_stride;
  const std::int64_t stride = params.has(name) ? stride_of(params, name, std::min(args.head_dim, dense)) : dense;
  if (stride < args.heads * head_stride && head_stride < args.rows * stride) {
    throw std::invalid_argument(std::string(name) + " = " + std::to_string(stride) + ": rows and heads overlap");
  }
  return stride;
}

// Sizes and strides of one call, dense where the params give none.
RopeArgs layout(const Params& params) {
  RopeArgs args{};
  args.rows = size_of(params, "rows");
  args.heads = size_of(params, "heads");
  args.head_dim = size_of(params, "head_dim");
  args.rot_dim = params.has("rot_dim") ? size_of(params, "rot_dim") : args.head_dim;
  args.components = params.has("components") ? size_of(params, "components") : 1;
  args.x_head_stride = stride_of(params, "x_head_stride", args.head_dim);
  args.y_head_stride = stride_of(params, "y_head_stride", args.head_dim);
  args.x_row_stride = row_stride(params, "x_row_stride", args, args.x_head_stride);
  args.y_row_stride = row_stride(params, "y_row_stride", args, args.y_head_stride);
  args.table_stride = stride_of(params, "table_stride", args.rot_dim / 2);
  args.component_stride = stride_of(params, "component_stride", args.rows * args.table_stride);
  args.pairing = enumerator(params, "pairing", {"split", "adjacent", "sectioned"});
  for (int i = 0; i < 4; ++i) args.sections[i] = static_cast<std::int32_t>(params.integer_or(kSections[i], 0));
  return args;
}

class RopeAdapter final : public OpAdapter<Rope, reference::kRopeContract, reference::rope> {
 public:
  Signature signature(const Params& params) const override {
    const RopeArgs a = layout(params);
    const std::vector<std::int64_t> shape{a.rows, a.heads, a.head_dim};
    const std::vector<std::int64_t> table{a.components, a.rows, a.rot_dim / 2};
    TensorSpec y = strided(output("y", DType::f32, shape), {a.y_row_stride, a.y_head_stride, 1});
    if (a.x_row_stride == a.y_row_stride && a.x_head_stride == a.y_head_stride) y = in_place(y, "x");
    Signature signature;
    signature.tensors.push_back(strided(input("x", DType::f32, shape), {a.x_row_stride, a.x_head_stride, 1}));
    for (const char* name : {"cos", "sin"}) {
      TensorSpec spec = with_data(input(name, DType::f32, table), {"uniform"});
      signature.tensors.push_back(strided(spec, {a.component_stride, a.table_stride, 1}));
    }
    signature.tensors.push_back(y);
    signature.splits = {{"rows", 1, {{"x", 0}, {"cos", 1}, {"sin", 1}, {"y", 0}}, {{"component_stride", a.component_stride}}},
                        {"heads", 1, {{"x", 1}, {"y", 1}}, {{"x_row_stride", a.x_row_stride}, {"y_row_stride", a.y_row_stride}}}};
    return signature;
  }

  RopeArgs bind(const Params& params, std::span<void* const> tensors) const override {
    RopeArgs args = layout(params);
    args.x = pointer<const float>(tensors, 0);
    args.cos = pointer<const float>(tensors, 1);
    args.sin = pointer<const float>(tensors, 2);
    args.y = pointer<float>(tensors, 3);
    return args;
  }

  // Sections that every head size can have: pair i takes component i mod 4, in runs of 3, 2, 2 and 1.
  ShapeSpace shape_space() const override {
    return {{{"rows", 5, 6},
             {"heads", 3, 5},
             {"head_dim", 128, 160, 2},
             {"components", 4, 1, 4},
             {"x_head_stride", 0, 0, 1, "head_dim"},
             {"y_head_stride", 0, 0, 1, "head_dim"}},
            {{"pairing", {std::string("split"), std::string("adjacent"), std::string("sectioned")}},
             {kSections[0], {std::int64_t{3}}},
             {kSections[1], {std::int64_t{2}}},
             {kSections[2], {std::int64_t{2}}},
             {kSections[3], {std::int64_t{1}}}}};
  }
  GeneratedCase bias_case() const override {
    return {{{"rows", 32}, {"heads", 4}, {"head_dim", 128}, {"pairing", std::string("split")}},
            {{"cos", {"gauss"}}, {"sin", {"gauss"}}},
            62};
  }

  Cost cost(const Params& params) const override {
    const RopeArgs a = layout(params);
    const auto elements = static_cast<double>(a.rows * a.heads * a.head_dim);
    return {8 * elements + 4 * static_cast<double>(a.rows * a.rot_dim), 3 * elements};
  }
  std::vector<Params> bench_params() const override {
    const std::string split = "split";
    return {{{"rows", 1}, {"heads", 16}, {"head_dim", 128}, {"pairing", split}},
            {{"rows", 512}, {"heads", 16}, {"head_dim", 128}, {"pairing", split}}};
  }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(rope, RopeAdapter)
