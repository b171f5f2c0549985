// Which calls of attention are drawn, judged for bias and timed.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/attention.h"
#include "reference/ops/find.h"
#include "reference/ops/op.h"

namespace assay {

constexpr std::int64_t kMostAttentionHeadDim = 512;

inline bool is_prefill(const Op& op) {
  return op.form == static_cast<int>(AttentionForm::prefill);
}

ShapeSpace attention_shapes(const Op& op);
GeneratedCase attention_bias_case(const Op& op);
GeneratedCase attention_long_bias_case(const Op& op);
std::vector<Params> attention_bench_params(const Op& op);

}  // namespace assay
