// attribute on kernels that are wrong at one site: that site and no other is named.
#include <gtest/gtest.h>

#include "tests/attribute_support.h"
#include "tests/planted_kernels.h"

namespace assay {
namespace {

struct Planting {
  Defect defect;
  const char* site;
  const char* prompt;
  const char* defects_number;  // of the list that the mutants of the suite come from
};

void PrintTo(const Planting& planting, std::ostream* out) {
  *out << defect_name(planting.defect) << " at " << planting.site;
}

// 25 where the norm's input is small enough to show eps; 23 with more than 16 tokens.
constexpr Planting kPlantings[] = {
    {Defect::rope_adjacent, "layers.03.q_rope", "genesis", "9"},
    {Defect::rope_adjacent, "layers.05.k_rope", "genesis", "9"},
    {Defect::store_stride, "layers.02.kv_store", "genesis", "12"},
    {Defect::unwritten, "layers.04.kv_store", "genesis", "12"},
    {Defect::kv_head_modulo, "layers.04.attn", "genesis", "13"},
    {Defect::query_stride, "layers.01.attn", "genesis", "13"},
    {Defect::silu_large, "layers.05.swiglu", "genesis", "20"},
    {Defect::tail_dropped, "layers.02.down_proj", "genesis", "22"},
    {Defect::tail_dropped, "layers.00.k_proj", "genesis", "22"},
    {Defect::tail_dropped, "lm_head", "one_token", "22"},
    {Defect::sum_not_rescaled, "layers.03.attn", "chat", "23"},
    {Defect::values_not_rescaled, "layers.01.attn", "chat", "23"},
    {Defect::mask_short, "layers.02.attn", "psalm", "23"},
    {Defect::eps_outside, "layers.00.attn_norm", "genesis", "25"},
    {Defect::eps_in_sum, "layers.00.attn_norm", "one_token", "25"},
    {Defect::unwritten, "layers.03.ffn_norm", "genesis", ""},
    {Defect::refusing, "layers.03.up_proj", "genesis", ""},
};

class AttributePlanted : public testing::TestWithParam<Planting> {
 protected:
  Attribution attributed(std::int64_t chunk) {
    Engine engine(model_, traced_options(chunk));
    plant(engine, GetParam().site, GetParam().defect);
    return attribute({&model_, &engine, &golden_, {}, {GetParam().prompt}});
  }

  ModelFile model_{golden_model("kjv")};
  TraceFile golden_{golden_trace("kjv-hf-f32")};
};

TEST_P(AttributePlanted, IsNamedInPrefill) {
  const Attribution result = attributed(512);
  EXPECT_EQ(sites_that_are(Blame::guilty, result), Sites{GetParam().site}) << all_text(result);
  EXPECT_EQ(result.count(Blame::miswired), 0) << all_text(result);
  EXPECT_FALSE(result.passed());
}

TEST_P(AttributePlanted, IsNamedInDecode) {
  const Attribution result = attributed(1);
  EXPECT_EQ(sites_that_are(Blame::guilty, result), Sites{GetParam().site}) << all_text(result);
  EXPECT_EQ(result.count(Blame::miswired), 0) << all_text(result);
}

INSTANTIATE_TEST_SUITE_P(Kjv, AttributePlanted, testing::ValuesIn(kPlantings));

}  // namespace
}  // namespace assay
