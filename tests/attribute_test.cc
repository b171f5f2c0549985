// attribute on kernels that are wrong at one site: that site and no other is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/attribute_support.h"
#include "tests/planted_kernels.h"

namespace assay::attribute_test {
namespace {

struct Planting {
  Defect defect;
  const char* site;
  const char* prompt;
  const char* defects_number;  // of docs/defects.md
  const char* model = "kjv";
  const char* trace = "kjv-hf-f32";
};

void PrintTo(const Planting& planting, std::ostream* out) {
  *out << defect_name(planting.defect) << " at " << planting.site << " of " << planting.model;
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

constexpr const char* kQuantised = "kjv-Q4_K_M.gguf";
constexpr const char* kLlama = "kjv-llama-q4_k_m";

constexpr Planting kQuantisedPlantings[] = {
    {Defect::rope_adjacent, "layers.03.q_rope", "genesis", "9", kQuantised, kLlama},
    {Defect::store_stride, "layers.02.kv_store", "genesis", "12", kQuantised, kLlama},
    {Defect::kv_head_modulo, "layers.04.attn", "genesis", "13", kQuantised, kLlama},
    {Defect::silu_large, "layers.05.swiglu", "genesis", "20", kQuantised, kLlama},
    {Defect::tail_dropped, "layers.02.down_proj", "genesis", "22", kQuantised, kLlama},  // q6_k
    {Defect::tail_dropped, "layers.04.gate_proj", "genesis", "22", kQuantised, kLlama},  // q4_k
    {Defect::mask_short, "layers.03.attn", "genesis", "23", kQuantised, kLlama},
    {Defect::eps_outside, "layers.00.attn_norm", "genesis", "25", kQuantised, kLlama},
};

class AttributePlanted : public testing::TestWithParam<Planting> {
 protected:
  Attribution attributed(std::int64_t chunk) {
    Engine engine(model_, traced_options(chunk));
    plant(engine, GetParam().site, GetParam().defect);
    return attribute({&model_, &engine, &golden_, {}, {GetParam().prompt}});
  }

  ModelFile model_{golden_model(GetParam().model)};
  TraceFile golden_{golden_trace(GetParam().trace)};
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

// With more than 16 tokens: genesis has fewer, chat has not.
TEST(Attribute, AFaultOfALaterPromptIsOne) {
  const ModelFile model(golden_model("kjv"));
  const TraceFile golden(golden_trace("kjv-hf-f32"));
  Engine engine(model, traced_options());
  plant(engine, "layers.03.attn", Defect::sum_not_rescaled);
  const Attribution result = attribute({&model, &engine, &golden, {}, {"genesis", "chat"}});
  EXPECT_FALSE(result.passed());
  const auto fault = result.first_fault();
  ASSERT_TRUE(fault.has_value()) << all_text(result);
  EXPECT_EQ(fault->prompt->prompt, "chat");
  EXPECT_EQ(fault->site->site, "layers.03.attn");
}

// fp64 keeps of this prompt too few rows for a bound on attention: there a site inherits if what came in is more than what it adds. Of the
// first attention, before which hardly anything has been rounded, it is not.
TEST(Attribute, WhoAddsMoreThanItInheritsDoesNotInherit) {
  const ModelFile model(golden_model("kjv"));
  const TraceFile golden(golden_trace("kjv-f64"));
  Engine engine(model, traced_options());
  const Attribution result = attribute({&model, &engine, &golden, {}, {"long"}});
  const auto& sites = result.prompts.at(0).sites;
  for (const char* name : {"layers.00.attn", "layers.05.attn"}) {
    const SiteAttribution& one = *std::ranges::find(sites, name, &SiteAttribution::site);
    const bool adds_more = std::string_view(name) == "layers.00.attn";
    EXPECT_EQ(one.golden.verdict, SiteVerdict::not_judged);
    EXPECT_EQ(one.own > one.inherited, adds_more) << name;
    EXPECT_EQ(one.blame, adds_more ? Blame::clean : Blame::inherits) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kjv, AttributePlanted, testing::ValuesIn(kPlantings));
INSTANTIATE_TEST_SUITE_P(Quantised, AttributePlanted, testing::ValuesIn(kQuantisedPlantings));

}  // namespace
}  // namespace assay::attribute_test
