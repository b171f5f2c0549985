// audit of traces that other engines made: of the model that it knows, and of altered ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/forensics/audit/audit.h"
#include "harness/forensics/extract/extract.h"
#include "harness/forensics/sites/site_name.h"
#include "tests/attribute_support.h"
#include "tests/diff_support.h"
#include "tests/temporary.h"

namespace assay::audit_test {
namespace {

AuditResult audited(const std::string& model_name, const std::string& trace_name) {
  const ModelFile model(golden_model(model_name));
  const TraceFile trace(golden_trace(trace_name));
  return audit({&model, &trace, {}, {}, definition_wiring(model.config())});
}

struct Whole {
  const char* model;
  const char* trace;
  std::int64_t right;
  std::int64_t not_judged;  // attention where not all rows are kept
};

class AuditWhole : public testing::TestWithParam<Whole> {};

TEST_P(AuditWhole, EverySiteThatTheRowsAllowIsRight) {
  const AuditResult result = audited(GetParam().model, GetParam().trace);
  EXPECT_EQ(result.count(SiteVerdict::right), GetParam().right);
  EXPECT_EQ(result.count(SiteVerdict::wrong), 0) << audit_text(result, Style::plain());
  EXPECT_EQ(result.count(SiteVerdict::not_judged), GetParam().not_judged);
  EXPECT_TRUE(result.passed());
}

INSTANTIATE_TEST_SUITE_P(Committed, AuditWhole,
                         testing::Values(Whole{"kjv", "kjv-f64", 606, 24}, Whole{"kjv", "kjv-hf-f32", 606, 24},
                                         Whole{"kjv", "kjv-hf-bf16", 606, 24},
                                         Whole{"kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m", 105, 0},
                                         Whole{"tiny-a-f16.gguf", "tiny-a-llama-f16", 71, 0},
                                         Whole{"tiny-a-Q4_K_M.gguf", "tiny-a-llama-q4_k_m", 71, 0}),
                         [](const auto& one) {
                           std::string name = one.param.trace;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// The product of `site`'s weights once they are bf16, from the trace's own inputs: of a model in f16 they keep 8 of 11 bits.
RowMatrix with_bfloat_weights(const ModelFile& model, TraceRows& rows, const char* site, const char* input) {
  const auto weight = std::ranges::find(model.weights().all(), site, &Weight::site);
  const RowMatrix& x = rows.site(input);
  RowMatrix w(weight->rows, weight->cols);
  for (std::int64_t i = 0; i < w.size(); ++i) {
    const auto exact = static_cast<float>(element_as_double(DType::f16, weight->bytes.data() + 2 * i));
    const auto bits = std::bit_cast<std::uint32_t>(exact);
    w.data()[i] = static_cast<double>(std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000));
  }
  return x.unaryExpr([](double one) { return static_cast<double>(static_cast<_Float16>(one)); }) * w.transpose();
}

TEST(Audit, WeightsInANarrowerTypeExplainAProduct) {
  const char* const site = "layers.01.down_proj";
  const ModelFile model(golden_model("tiny-a-f16.gguf"));
  const TraceFile golden(golden_trace("tiny-a-llama-f16"));
  const std::string prompt = golden.prompts().front();
  TraceRows rows(golden, prompt);
  const RowMatrix planted = with_bfloat_weights(model, rows, site, "layers.01.swiglu");
  const From after(golden_trace("tiny-a-llama-f16"), prompt, site);
  const TemporaryFolder folder;
  copy_trace(golden_trace("tiny-a-llama-f16"), folder.path() / "copy.h5", {prompt}, [&](const std::string& name, Array& values) {
    if (name == site) values.bytes = floats(planted, values.shape).bytes;
    return name == site || !after(name);
  });
  const TraceFile trace(folder.path() / "copy.h5");
  const AuditResult result = audit({&model, &trace, {}, {}, definition_wiring(model.config())});
  const auto found = std::ranges::find(result.prompts.at(0).sites, site, &Judgement::site);
  EXPECT_EQ(result.count(SiteVerdict::wrong), 1) << audit_text(result, Style::plain());
  EXPECT_EQ(found->explanations, std::vector<std::string>{"the weight rounded to bf16"}) << audit_text(result, Style::plain());
}

// What another type rounds otherwise is no fault of the trace's.
TEST(Audit, WeightsOfAnotherTypeAreNotHeldToTheTrace) {
  const AuditResult result = audited("kjv", "kjv-llama-q8_0");
  EXPECT_EQ(result.count(SiteVerdict::wrong), 0) << audit_text(result, Style::plain());
  const auto& sites = result.prompts.at(0).sites;
  const auto down = std::ranges::find(sites, "layers.02.down_proj", &Judgement::site);
  ASSERT_NE(down, sites.end());
  EXPECT_EQ(down->verdict, SiteVerdict::not_judged);
  EXPECT_EQ(down->why_not, "the trace was made with weights in q8_0, the model's are bf16");
  EXPECT_EQ(std::ranges::find(sites, "layers.02.swiglu", &Judgement::site)->verdict, SiteVerdict::right) << "it has no weight";
}

// Half of swiglu's columns: no such row is what gate and up give, and that is a fault, not something that is missing.
TEST(Audit, WhatDoesNotFitIsWrong) {
  const TemporaryFolder folder;
  const auto copy = folder.path() / "copy.h5";
  copy_trace(golden_trace("kjv-hf-f32"), copy, {"genesis"}, [](const std::string& site, Array& values) {
    if (site != "layers.02.swiglu") return true;
    const auto rows = values.shape.front();
    const std::size_t bytes = values.bytes.size() / static_cast<std::size_t>(rows);
    for (std::int64_t row = 0; row < rows; ++row)
      std::memmove(values.bytes.data() + row * bytes / 2, values.bytes.data() + row * bytes, bytes / 2);
    values.bytes.resize(values.bytes.size() / 2);
    values.shape.back() /= 2;
    return true;
  });
  const ModelFile model(golden_model("kjv"));
  const TraceFile trace(copy);
  const AuditResult result = audit({&model, &trace, {}, {}, definition_wiring(model.config())});
  EXPECT_FALSE(result.passed());
  Sites wrong;
  for (const Judgement& one : result.prompts.at(0).sites) {
    if (one.verdict != SiteVerdict::wrong) continue;
    wrong.insert(one.site);
    EXPECT_NE(one.remarks.at(0).find("does not fit"), std::string::npos) << one.remarks.at(0);
  }
  EXPECT_EQ(wrong, Sites{"layers.02.swiglu"}) << audit_text(result, Style::plain());
}

// Products that end before the last sixteen: not in the audit's own list, but in that of `assay explain`.
TEST(Audit, WhatKernelsGetWrongExplainsSites) {
  const ModelFile model(golden_model("kjv"));
  const TraceFile golden(golden_trace("kjv-hf-f32"));
  TraceRows rows(golden, "genesis");
  const auto short_products = [&](int layer) {
    RowMatrix x = rows.site(layer_site(layer, "swiglu"));
    x.rightCols(16).setZero();
    const Weight& down = model.weights().at(Role::down_proj, layer);
    return RowMatrix(x * DecodedWeight(down).rows(0, down.rows).value.transpose());
  };
  const TemporaryFolder folder;
  const auto copy = folder.path() / "copy.h5";
  copy_trace(golden_trace("kjv-hf-f32"), copy, {"genesis"}, [&](const std::string& site, Array& values) {
    for (const int layer : {1, 4}) {
      if (site == layer_site(layer, "down_proj")) values.bytes = floats(short_products(layer), values.shape).bytes;
    }
    return true;
  });
  const TraceFile trace(copy);
  const AuditResult result = audit({&model, &trace, {}, {}, definition_wiring(model.config())});
  Sites explained;
  for (const Judgement& one : result.prompts.at(0).sites) {
    if (std::ranges::find(one.explanations, "k lacks its last step of sixteen") != one.explanations.end())
      explained.insert(one.site);
  }
  EXPECT_EQ(explained, (Sites{"layers.01.down_proj", "layers.04.down_proj"})) << audit_text(result, Style::plain());
}

struct Altered {
  const char* fault;
  Sites wrong;
  const char* explanation;  // among those of the first wrong site
};

void PrintTo(const Altered& altered, std::ostream* out) {
  *out << altered.fault;
}

// Recorded by transformers and by llama.cpp from altered files (golden/record/record_altered.py), held to the unaltered model.
class AuditAltered : public testing::TestWithParam<Altered> {
 protected:
  void expect_found(const std::string& model, const std::string& engine) {
    const AuditResult result = audited(model, "altered/" + engine + "-" + GetParam().fault);
    Sites wrong;
    const Judgement* first = nullptr;
    for (const Judgement& one : result.prompts.at(0).sites) {
      if (one.verdict != SiteVerdict::wrong) continue;
      wrong.insert(one.site);
      if (first == nullptr) first = &one;
    }
    const std::string text = audit_text(result, Style::plain());
    EXPECT_EQ(wrong, GetParam().wrong) << text;
    ASSERT_NE(first, nullptr);
    const bool explained = std::ranges::any_of(
        first->explanations, [](const std::string& one) { return one.find(GetParam().explanation) != one.npos; });
    EXPECT_TRUE(explained) << text;
    EXPECT_FALSE(result.passed());
  }
};

using AuditAlteredByBoth = AuditAltered;
TEST_P(AuditAlteredByBoth, IsFoundInTransformers) {
  expect_found("kjv", "kjv-hf-f32");
}
TEST_P(AuditAlteredByBoth, IsFoundInLlamaCpp) {
  expect_found("kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m");
}

INSTANTIATE_TEST_SUITE_P(
    Fault, AuditAlteredByBoth,
    testing::Values(Altered{"kv_exchanged", {"layers.02.k_proj", "layers.02.v_proj"}, "v"},
                    Altered{"q_norm_zeroed", {"layers.02.q_norm"}, "number 37 is 0.800781, the values ask for 0"},
                    Altered{"theta", {"layers.02.q_rope", "layers.02.k_rope"}, "theta 250000"},
                    Altered{"eps", {"layers.00.attn_norm", "layers.00.q_norm", "layers.00.k_norm"}, "eps 1e-05"}));

using AuditAlteredBlock = AuditAltered;
TEST_P(AuditAlteredBlock, IsFoundInLlamaCpp) {
  expect_found("kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m");
}
INSTANTIATE_TEST_SUITE_P(Fault, AuditAlteredBlock,
                         testing::Values(Altered{"q6_k_block", {"layers.02.down_proj"}, "1 of 256 rows"}));

}  // namespace
}  // namespace assay::audit_test
