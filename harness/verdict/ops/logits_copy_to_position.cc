#include "kernels/logits_copy_to_position/logits_copy_to_position.h"

#include "harness/verdict/ops/bind.h"
#include "reference/kv.h"

namespace assay {
namespace {

// dst is the row that is written, [vocab]: the rest of the buffer is its surroundings, which the guard watches.
class LogitsCopyToPositionAdapter final
    : public OpAdapter<LogitsCopyToPosition, reference::kLogitsCopyToPositionContract, reference::logits_copy_to_position> {
 public:
  Signature signature(const Params& params) const override {
    const LogitsCopyToPositionArgs a = layout(params);
    return {{input("src", DType::f32, {a.vocab}), output("dst", DType::f32, {a.vocab})},
            {{"vocab", 1, {{"src", 0}, {"dst", 0}}, {{"dst_stride", a.dst_stride}}}}};
  }

  LogitsCopyToPositionArgs bind(const Params& params, std::span<void* const> tensors) const override {
    LogitsCopyToPositionArgs args = layout(params);
    args.src = pointer<const float>(tensors, 0);
    args.dst = pointer<float>(tensors, 1);
    if (status_of(args) == ASSAY_OK) args.dst -= args.position * args.dst_stride;
    return args;
  }

  AssayStatus required_status(const Params& params, const std::vector<Array>&) const override {
    return status_of(layout(params));
  }

  ShapeSpace shape_space() const override {
    return {{{"vocab", 1000, 3000}, {"positions", 8, 20}, {"position", 3, 12}, {"dst_stride", 0, 0, 1, "vocab"}}, {}};
  }
  GeneratedCase bias_case() const override { return {}; }
  Cost cost(const Params& params) const override { return {8 * params.real("vocab"), 0}; }
  std::vector<Params> bench_params() const override { return {{{"vocab", 151936}, {"positions", 16}, {"position", 7}}}; }

 private:
  static LogitsCopyToPositionArgs layout(const Params& params) {
    LogitsCopyToPositionArgs a{};
    a.vocab = size_of(params, "vocab");
    a.positions = size_of(params, "positions");
    a.position = params.integer("position");
    a.dst_stride = bounded_or(params, "dst_stride", a.vocab);
    return a;
  }
  static AssayStatus status_of(const LogitsCopyToPositionArgs& a) {
    if (a.dst_stride < a.vocab) return ASSAY_BAD_SHAPE;
    return a.position < 0 || a.position >= a.positions ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
  }
};

}  // namespace
}  // namespace assay

ASSAY_DEFINE_ADAPTER(logits_copy_to_position, LogitsCopyToPositionAdapter)
