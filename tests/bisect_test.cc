// bisect on kernels that are wrong at one site or at two: these steps and no others are named.
#include <gtest/gtest.h>

#include "harness/forensics/attribute/bisect.h"
#include "tests/attribute_support.h"
#include "tests/planted_kernels.h"

namespace assay::bisect_test {
namespace {

struct Fault {
  Defect defect;
  const char* site;
};

class BisectTest : public testing::Test {
 protected:
  Bisection bisected(const std::vector<Fault>& faults, const std::vector<std::string>& prompts) {
    Engine engine(model_, traced_options());
    for (const Fault& fault : faults) plant(engine, fault.site, fault.defect);
    return bisect({&engine, &golden_, prompts, {}, {}});
  }

  void expect_named(const std::vector<Fault>& faults, const char* prompt) {
    const Bisection result = bisected(faults, {prompt});
    Sites wanted;
    for (const Fault& fault : faults) wanted.insert(fault.site);
    EXPECT_EQ(Sites(result.sites.begin(), result.sites.end()), wanted) << bisection_text(result, Style::plain());
    EXPECT_FALSE(result.nothing_to_find());
  }

  ModelFile model_{golden_model("kjv")};
  TraceFile golden_{golden_trace("kjv-hf-f32")};
};

TEST_F(BisectTest, RightKernelsAreWithinTheThreshold) {
  const Bisection result = bisected({}, {"genesis"});
  EXPECT_TRUE(result.nothing_to_find()) << bisection_text(result, Style::plain());
  EXPECT_FALSE(result.reference_is_far());
}

TEST_F(BisectTest, OneWrongStepIsNamed) {
  expect_named({{Defect::rope_adjacent, "layers.03.q_rope"}}, "genesis");
  expect_named({{Defect::store_stride, "layers.02.kv_store"}}, "genesis");
  expect_named({{Defect::kv_head_modulo, "layers.04.attn"}}, "genesis");
  expect_named({{Defect::silu_large, "layers.05.swiglu"}}, "genesis");
  expect_named({{Defect::tail_dropped, "layers.02.down_proj"}}, "genesis");
  expect_named({{Defect::sum_not_rescaled, "layers.03.attn"}}, "chat");
  expect_named({{Defect::eps_outside, "layers.00.attn_norm"}}, "genesis");
}

TEST_F(BisectTest, TwoWrongStepsAreBothNamed) {
  expect_named({{Defect::rope_adjacent, "layers.01.k_rope"}, {Defect::tail_dropped, "layers.04.up_proj"}}, "genesis");
  expect_named({{Defect::eps_outside, "layers.00.attn_norm"}, {Defect::mask_short, "layers.05.attn"}}, "chat");
}

// The first of two prompts shows it, the last does not.
TEST_F(BisectTest, OfPromptsTheFarthestCounts) {
  const std::vector<Fault> faults{{Defect::sum_not_rescaled, "layers.03.attn"}};
  EXPECT_TRUE(bisected(faults, {"genesis"}).nothing_to_find());
  EXPECT_EQ(bisected(faults, {"chat", "genesis"}).sites, std::vector<std::string>{"layers.03.attn"});
}

TEST_F(BisectTest, TheKernelsAreAsTheyWere) {
  Engine engine(model_, traced_options());
  plant(engine, "layers.02.down_proj", Defect::tail_dropped);
  const Bisection first = bisect({&engine, &golden_, {"genesis"}, {}, {}});
  const Bisection again = bisect({&engine, &golden_, {"genesis"}, {}, {}});
  EXPECT_EQ(first.sites, again.sites);
  EXPECT_EQ(first.as_chosen, again.as_chosen);
}

}  // namespace
}  // namespace assay::bisect_test
