// Faults planted in a trace, one at a site: each is computed here from the trace's own inputs by code that shares nothing with the audit's, and what
// comes after it is left out. The audit must find it there and nowhere else, and say what it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <set>

#include "harness/forensics/audit/audit.h"
#include "harness/forensics/extract/extract.h"
#include "harness/forensics/sites/site_name.h"
#include "tests/attribute_support.h"
#include "tests/diff_support.h"
#include "tests/temporary.h"

namespace assay::audit_planted_test {
namespace {

constexpr Eigen::Index kHeads = 4, kHeadDim = 128;  // of kjv
constexpr double kTheta = 1e6;
constexpr double kHidden = -std::numeric_limits<double>::infinity();

// What the rows of a layer are computed of.
struct Layer {
  TraceRows& rows;
  const RowMatrix& operator()(const char* site) const { return rows.site(layer_site(2, site)); }
};

// What a score becomes, by the query's position, the key's, and the score.
using Scored = std::function<double(Eigen::Index query, Eigen::Index key, double score)>;
double causal(Eigen::Index query, Eigen::Index key, double score) {
  return key <= query ? score : kHidden;
}

struct Apart {
  double more = 0;  // in the softmax's sum
  std::vector<Eigen::Index> kv_of = {0, 0, 1, 1};
  std::vector<double> slopes = {0, 0, 0, 0};            // of the heads, for each position between key and query
  double (*kept)(double) = [](double x) { return x; };  // scores and weights
};

RowMatrix attention(const Layer& layer, const Scored& scored, const Apart& apart = {}) {
  const RowMatrix& q = layer("q_rope");
  const RowMatrix& k = layer("k_rope");
  const RowMatrix& v = layer("v_proj");
  RowMatrix y = RowMatrix::Zero(q.rows(), q.cols());
  for (Eigen::Index head = 0; head < kHeads; ++head) {
    const auto of_head = static_cast<std::size_t>(head);
    const Eigen::Index kv = apart.kv_of[of_head] * kHeadDim;
    for (Eigen::Index row = 0; row < q.rows(); ++row) {
      Eigen::VectorXd weights(k.rows());
      for (Eigen::Index key = 0; key < k.rows(); ++key) {
        const double dot = q.row(row).segment(head * kHeadDim, kHeadDim).dot(k.row(key).segment(kv, kHeadDim));
        const double score =
            dot / std::sqrt(static_cast<double>(kHeadDim)) - apart.slopes[of_head] * static_cast<double>(row - key);
        weights[key] = std::exp(apart.kept(scored(row, key, score)));
      }
      weights /= weights.sum() + apart.more;
      for (Eigen::Index key = 0; key < k.rows(); ++key)
        y.row(row).segment(head * kHeadDim, kHeadDim) += apart.kept(weights[key]) * v.row(key).segment(kv, kHeadDim);
    }
  }
  return y;
}

// Queries turned by `angle` of a position and a frequency.
RowMatrix turned(const Layer& layer, const std::function<double(double position, double frequency)>& angle) {
  const RowMatrix& x = layer("q_norm");
  RowMatrix y = x;
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    for (Eigen::Index a = 0; a < x.cols(); ++a) {
      const Eigen::Index pair = a % kHeadDim;
      if (pair >= kHeadDim / 2) continue;
      const Eigen::Index b = a + kHeadDim / 2;
      const double by = angle(static_cast<double>(row), std::pow(kTheta, -2.0 * static_cast<double>(pair) / kHeadDim));
      y(row, a) = x(row, a) * std::cos(by) - x(row, b) * std::sin(by);
      y(row, b) = x(row, b) * std::cos(by) + x(row, a) * std::sin(by);
    }
  }
  return y;
}

RowMatrix gated(const Layer& layer, const std::function<double(double gate, double up)>& of) {
  RowMatrix y = layer("gate_proj");
  const RowMatrix& up = layer("up_proj");
  for (Eigen::Index i = 0; i < y.size(); ++i) y.data()[i] = of(y.data()[i], up.data()[i]);
  return y;
}

double silu(double g) {
  return g / (1 + std::exp(-g));
}

struct Planted {
  const char* name;
  const char* site;
  RowMatrix (*values)(const Layer& layer);
  const char* explanation;
};

void PrintTo(const Planted& planted, std::ostream* out) {
  *out << planted.name;
}

constexpr Planted kPlanted[] = {
    {"window", "layers.02.attn",
     [](const Layer& l) { return attention(l, [](auto i, auto j, double s) { return j > i - 8 ? causal(i, j, s) : kHidden; }); },
     "a window of 8 positions"},
    {"scale", "layers.02.attn",
     [](const Layer& l) { return attention(l, [](auto i, auto j, double s) { return causal(i, j, 1.1 * s); }); },
     "scores 1.1 times as large"},
    {"leaky_mask", "layers.02.attn",
     [](const Layer& l) { return attention(l, [](auto i, auto j, double s) { return j <= i ? s : s - 10; }); },
     "a mask that takes 10 off"},
    {"cap", "layers.02.attn",
     [](const Layer& l) { return attention(l, [](auto i, auto j, double s) { return causal(i, j, 5 * std::tanh(s / 5)); }); },
     "scores capped at 5, by its tanh"},
    {"sink", "layers.02.attn", [](const Layer& l) { return attention(l, causal, {.more = std::exp(0.5)}); },
     "a sink of the score 0.5 beside the keys"},
    {"chunks", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, [](auto i, auto j, double s) { return j / 4 == i / 4 ? causal(i, j, s) : kHidden; });
     },
     "chunks of 4 positions"},
    {"first_key", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, [](auto i, auto j, double s) { return j > 0 || i == 0 ? causal(i, j, s) : kHidden; });
     },
     "keys before position 1 hidden"},
    {"prefix", "layers.02.attn",
     [](const Layer& l) { return attention(l, [](auto i, auto j, double s) { return j < 5 ? s : causal(i, j, s); }); },
     "a prefix of 5 positions that all see one another"},
    {"alibi", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, causal, {.slopes = {0.25, 0.0625, 0.015625, 0.00390625}});
     },
     "ALiBi's slopes times 1"},
    {"steep_alibi", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, causal, {.slopes = {0.75, 0.1875, 0.046875, 0.01171875}});
     },
     "ALiBi's slopes times 3"},
    {"softmax_in_f16", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, causal, {.kept = [](double x) { return static_cast<double>(static_cast<_Float16>(x)); }});
     },
     "scores and the softmax's weights rounded to f16"},
    {"kv_heads", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, causal, {.kv_of = {1, 1, 0, 0}});
     },
     "heads read the kv heads 1, 1, 0, 0"},
    {"window_and_scale", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, [](auto i, auto j, double s) { return j > i - 3 ? causal(i, j, 0.9 * s) : kHidden; });
     },
     "scores 0.9 times as large; and a window of 3 positions"},
    {"kv_heads_and_chunks", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, [](auto i, auto j, double s) { return j / 4 == i / 4 ? causal(i, j, s) : kHidden; },
                        {.kv_of = {1, 1, 0, 0}});
     },
     "heads read the kv heads 1, 1, 0, 0; and chunks of 4 positions"},
    {"cap_and_leaky_mask", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, [](auto i, auto j, double s) { return 5 * std::tanh(s / 5) - (j <= i ? 0 : 10); });
     },
     "scores capped at 5, by its tanh; and a mask that takes 10 off"},
    {"scale_and_next_token", "layers.02.attn",
     [](const Layer& l) { return attention(l, [](auto i, auto j, double s) { return j <= i + 1 ? 0.75 * s : kHidden; }); },
     "scores 0.75 times as large; and a mask that shows the next token"},
    {"kv_heads_and_window", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, [](auto i, auto j, double s) { return j > i - 2 ? causal(i, j, s) : kHidden; },
                        {.kv_of = {0, 1, 0, 1}});
     },
     "kv head = h % n_kv; and a window of 2 positions"},
    {"alibi_and_sink", "layers.02.attn",
     [](const Layer& l) {
       return attention(l, causal, {.more = std::exp(0.5), .slopes = {0.25, 0.0625, 0.015625, 0.00390625}});
     },
     "a sink of the score 0.5 beside the keys; and ALiBi's slopes times 1"},
    {"heads", "layers.02.attn",
     [](const Layer& l) {
       RowMatrix y = attention(l, causal);
       const RowMatrix first = y.leftCols(kHeadDim);
       y.leftCols(kHeadDim) = y.middleCols(kHeadDim, kHeadDim).eval();
       y.middleCols(kHeadDim, kHeadDim) = first;
       return y;
     },
     "heads in another order: 1, 0, 2, 3"},
    {"theta", "layers.02.q_rope",
     [](const Layer& l) {
       return turned(l, [](double p, double f) { return p * std::pow(f, std::log(123456) / std::log(kTheta)); });
     },
     "theta 123456"},
    {"moved", "layers.02.q_rope", [](const Layer& l) { return turned(l, [](double p, double f) { return (p + 2) * f; }); },
     "positions moved by 2"},
    {"slower", "layers.02.q_rope", [](const Layer& l) { return turned(l, [](double p, double f) { return p / 1.5 * f; }); },
     "positions over 1.5"},
    {"quarter", "layers.02.q_rope",
     [](const Layer& l) {  // a rotation of 32 numbers a head, with frequencies of its own
       const RowMatrix& x = l("q_norm");
       RowMatrix y = x;
       for (Eigen::Index row = 0; row < x.rows(); ++row) {
         for (Eigen::Index a = 0; a < x.cols(); ++a) {
           const Eigen::Index pair = a % kHeadDim;
           if (pair >= 16) continue;
           const double by = static_cast<double>(row) * std::pow(kTheta, -2.0 * static_cast<double>(pair) / 32);
           y(row, a) = x(row, a) * std::cos(by) - x(row, a + 16) * std::sin(by);
           y(row, a + 16) = x(row, a + 16) * std::cos(by) + x(row, a) * std::sin(by);
         }
       }
       return y;
     },
     "only the first quarter of each head rotated"},
    {"tanh_gelu", "layers.02.swiglu",
     [](const Layer& l) {
       return gated(l, [](double g, double u) {
         return 0.5 * g * (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (g + 0.044715 * g * g * g))) * u;
       });
     },
     "gelu by tanh in the place of silu"},
    {"quick_gelu", "layers.02.swiglu",
     [](const Layer& l) { return gated(l, [](double g, double u) { return g / (1 + std::exp(-1.702 * g)) * u; }); },
     "a sigmoid of 1.702 times the gate"},
    {"rough_sigmoid", "layers.02.swiglu",  // off by 3e-5, as a table's or a rational function's
     [](const Layer& l) { return gated(l, [](double g, double u) { return (silu(g) + 3e-5 * g * std::cos(2 * g)) * u; }); },
     "another function of the gate than silu: of "},
    {"mish", "layers.02.swiglu",
     [](const Layer& l) { return gated(l, [](double g, double u) { return g * std::tanh(std::log1p(std::exp(g))) * u; }); },
     "another function of the gate than silu: of "},
    {"clamped", "layers.02.swiglu",
     [](const Layer& l) {
       return gated(l, [](double g, double u) { return silu(std::min(g, 1.0)) * std::clamp(u, -1.0, 1.0); });
     },
     "gate and up clamped at 1"},
    {"clamped_up", "layers.02.swiglu",
     [](const Layer& l) { return gated(l, [](double g, double u) { return silu(g) * std::clamp(u, -1.5, 1.5); }); },
     "up clamped at 1.5"},
    {"clamped_gate", "layers.02.swiglu",
     [](const Layer& l) { return gated(l, [](double g, double u) { return silu(std::min(g, 1.5)) * u; }); },
     "the gate clamped at 1.5"},
    {"scaled_summand", "layers.02.ffn_residual",
     [](const Layer& l) {  // in f32
       const Eigen::MatrixXf less = 0.22F * l("down_proj").cast<float>();
       return RowMatrix(l("attn_residual") + less.cast<double>());
     },
     "layers.02.down_proj added 0.22 times"},
    {"capped_logits", "lm_head",
     [](const Layer& l) {
       RowMatrix y = l.rows.site("lm_head");
       for (double& one : y.reshaped()) one = 15 * std::tanh(one / 15);
       return y;
     },
     "capped at 15, by its tanh"},
    {"taken_off", "layers.02.ffn_residual", [](const Layer& l) { return RowMatrix(l("attn_residual") - l("down_proj")); },
     "layers.02.down_proj taken off, not added"},
    {"summand_missing", "layers.02.ffn_residual", [](const Layer& l) { return l("down_proj"); },
     "the addition is missing: a copy of layers.02.down_proj"},
    {"norm_missing", "layers.02.q_norm", [](const Layer& l) { return l("q_proj"); },
     "the norm is missing: a copy of layers.02.q_proj"},
    {"left_over", "layers.02.o_proj",
     [](const Layer& l) {
       RowMatrix y = l("o_proj");
       y.row(5) = y.row(4).eval();
       return y;
     },
     "1 of 14 rows hold what the row before them does"},
    {"other_tokens", "embed", [](const Layer& l) { return RowMatrix(l.rows.site("embed").colwise().reverse()); },
     "the row of token "},
    {"scaled_embedding", "embed", [](const Layer& l) { return RowMatrix(16 * l.rows.site("embed")); }, "16 times too large"},
    {"one_number", "embed",
     [](const Layer& l) {
       RowMatrix y = l.rows.site("embed");
       y(5, 17) = 3.25;
       return y;
     },
     "the values ask for 3.25"},
};

// Of transformers' trace of one prompt, with sites changed, or left out where `change` says so.
AuditResult audited_copy(const std::function<bool(const std::string& site, Array& values)>& change) {
  const TemporaryFolder folder;
  const auto copy = folder.path() / "copy.h5";
  copy_trace(golden_trace("kjv-hf-f32"), copy, {"genesis"}, change);
  const ModelFile model(golden_model("kjv"));
  const TraceFile trace(copy);
  return audit({&model, &trace, {}, {}, definition_wiring(model.config())});
}

class AuditPlanted : public testing::TestWithParam<Planted> {};

TEST_P(AuditPlanted, IsFoundThereAndExplained) {
  const TraceFile golden(golden_trace("kjv-hf-f32"));
  TraceRows rows(golden, "genesis");
  const RowMatrix planted = GetParam().values(Layer{rows});
  const From after(golden_trace("kjv-hf-f32"), "genesis", GetParam().site);
  const AuditResult result = audited_copy([&](const std::string& site, Array& values) {
    if (site == GetParam().site) values.bytes = floats(planted, values.shape).bytes;
    return site == GetParam().site || !after(site);
  });
  Sites wrong;
  std::vector<std::string> told;
  for (const Judgement& one : result.prompts.at(0).sites) {
    if (one.verdict != SiteVerdict::wrong) continue;
    wrong.insert(one.site);
    told.insert(told.end(), one.explanations.begin(), one.explanations.end());
  }
  EXPECT_EQ(wrong, Sites{GetParam().site}) << audit_text(result, Style::plain());
  ASSERT_EQ(told.size(), 1U) << audit_text(result, Style::plain());
  EXPECT_NE(told.front().find(GetParam().explanation), std::string::npos) << told.front();
}

// What is fed NaN gives no bound, and so would fit anything.
TEST(AuditPlantedNan, IsNotExplainedByWhatIsFedNan) {
  const AuditResult result = audited_copy([&](const std::string& site, Array& values) {
    const std::set<std::string> spoilt{"layers.02.gate_proj", "layers.02.swiglu", "layers.02.down_proj",
                                       "layers.02.ffn_residual"};
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t at = 0; at < values.bytes.size() && spoilt.contains(site); at += sizeof kNan)
      if (site != "layers.02.gate_proj" || at % 3072 == 28) std::memcpy(&values.bytes[at], &kNan, sizeof kNan);
    return true;
  });
  const auto& sites = result.prompts.at(0).sites;
  const auto gate = std::ranges::find(sites, "layers.02.gate_proj", &Judgement::site);
  ASSERT_NE(gate, sites.end());
  EXPECT_EQ(gate->verdict, SiteVerdict::wrong);
  const std::vector<std::string> told{"other numbers in 1 of 768 rows of the weight model.layers.2.mlp.gate_proj.weight"};
  EXPECT_EQ(gate->explanations, told) << audit_text(result, Style::plain());
  EXPECT_EQ(audit_text(result, Style::plain()).find("nearest: ,"), std::string::npos);
}

// A row without a bound, since it is fed NaN, excuses no other.
TEST(AuditPlantedNan, OneRowWithoutABoundSparesNoOther) {
  const AuditResult result = audited_copy([&](const std::string& site, Array& values) {
    auto* const numbers = reinterpret_cast<float*>(values.bytes.data());
    const std::int64_t width = values.shape.back();
    if (site == "layers.02.ffn_norm") std::fill_n(numbers + 3 * width, width, std::numeric_limits<float>::quiet_NaN());
    if (site == "layers.02.gate_proj") numbers[5 * width + 2] += 1;
    return true;
  });
  const auto& sites = result.prompts.at(0).sites;
  const auto gate = std::ranges::find(sites, "layers.02.gate_proj", &Judgement::site);
  ASSERT_NE(gate, sites.end());
  EXPECT_EQ(gate->verdict, SiteVerdict::wrong) << audit_text(result, Style::plain());
  EXPECT_EQ(gate->excess.row, 5);
  EXPECT_EQ(gate->excess.column, 2);
}

INSTANTIATE_TEST_SUITE_P(Fault, AuditPlanted, testing::ValuesIn(kPlanted), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace assay::audit_planted_test
