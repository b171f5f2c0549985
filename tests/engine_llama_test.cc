// The engine against llama.cpp's own values: every linear site fed llama.cpp's input and its rounding of activations, and the whole
// model end to end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>

#include "engine/convert/quantize.h"
#include "engine/kv/mapping.h"
#include "engine/run/load_weights.h"
#include "engine/run/site_rows.h"
#include "harness/forensics/eval/trace_eval.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/verdict/suite.h"
#include "kernels/formats/blocks.h"
#include "reference/ops/find.h"
#include "tests/temporary.h"

namespace assay::engine_llama_test {
namespace {

// A model in one of llama.cpp's types and the limits end to end.
struct Sample {
  const char* model;
  const char* type;  // as files are called
  double most_nmse;
  double most_kl;
};
constexpr Sample kSamples[] = {{"kjv", "f16", 2e-6, 2e-6},     {"tiny-a", "f16", 2e-6, 2e-6}, {"kjv", "q8_0", 3e-4, 2e-3},
                               {"tiny-a", "q8_0", 3e-4, 2e-3}, {"kjv", "q4_k_m", 1e-4, 2e-3}, {"tiny-a", "q4_k_m", 1e-4, 2e-3}};
constexpr double kMostSiteNmse = 1e-11;

void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.model << " " << sample.type;
}

class EngineLlama : public testing::TestWithParam<Sample> {
 protected:
  EngineLlama()
      : model_(file()),
        trace_(own_golden() / "traces" / (std::string(GetParam().model) + "-llama-" + GetParam().type + ".h5")),
        prompt_(trace_.prompt(trace_.prompts().front())) {}

  // Those that no file is kept of follow from closed formulas; quantize_test holds them to llama.cpp's bytes.
  std::filesystem::path file() {
    const std::filesystem::path models = own_golden() / "models";
    const std::string name = GetParam().model;
    const std::string type = GetParam().type;
    if (type == "q4_k_m") return models / (name + "-Q4_K_M.gguf");
    std::filesystem::path source = models / (name == "kjv" ? "kjv" : "tiny-a-f16.gguf");
    if (type == "f16" && name == "tiny-a") return source;
    std::filesystem::path made = folder_.path() / (name + "-" + type + ".gguf");
    quantize({source, made, &find_target(type), 2, {}});
    return made;
  }

  Array rows_of(const std::string& site) const { return trace_.site(prompt_, site); }

  TemporaryFolder folder_;
  ModelFile model_;
  TraceFile trace_;
  TracePrompt prompt_;
};

// Whose values a linear site reads.
std::string input_of(const std::string& site) {
  const std::string_view kind = parse_site(site).op;
  const std::string layer = site.substr(0, site.size() - kind.size());
  if (kind == "lm_head") return "final_norm";
  if (kind == "o_proj") return layer + "attn";
  if (kind == "down_proj") return layer + "swiglu";
  return layer + (kind == "gate_proj" || kind == "up_proj" ? "ffn_norm" : "attn_norm");
}

// Rows of activations as a weight's kernels take them.
struct Activations {
  std::vector<std::uint8_t> bytes;
  std::int64_t stride = 0;  // of a row, in elements
  std::size_t element = 0;
};

Activations quantized(DType format, const float* x, std::int64_t rows, std::int64_t k) {
  const std::int64_t blocks = k / dtype_numbers(format);
  const std::size_t block = dtype_size(format);
  Activations out{std::vector<std::uint8_t>(static_cast<std::size_t>(rows * blocks) * block), blocks, block};
  const CodecArgs args{x, out.bytes.data(), rows, k, k, blocks};
  if (select_kernel(*codec_op(CodecForm::quantize, format).table).run(&args) != ASSAY_OK)
    throw std::runtime_error("quantising was refused");
  return out;
}

Activations rounded_to_f16(const float* x, std::int64_t rows, std::int64_t k) {
  std::vector<std::uint16_t> half(static_cast<std::size_t>(rows * k));
  Activations out{std::vector<std::uint8_t>(half.size() * sizeof(float)), k, sizeof(float)};
  const ConvertArgs narrow{x, half.data(), rows * k};
  const ConvertArgs widen{half.data(), out.bytes.data(), rows * k};
  if (select_kernel(kernel_tables::convert_f32_f16).run(&narrow) != ASSAY_OK ||
      select_kernel(kernel_tables::convert_f16_f32).run(&widen) != ASSAY_OK) {
    throw std::runtime_error("rounding to f16 was refused");
  }
  return out;
}

Activations unrounded(const float* x, std::int64_t rows, std::int64_t k) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(x);
  return {{bytes, bytes + static_cast<std::size_t>(rows * k) * sizeof(float)}, k, sizeof(float)};
}

// As llama.cpp rounds them ahead of a product with that type.
Activations rounded(const WeightLayout& layout, const float* x, std::int64_t rows, std::int64_t k) {
  return is_block(layout.activations) ? quantized(layout.activations, x, rows, k) : rounded_to_f16(x, rows, k);
}

// The engine's weights and its products, without its passes.
class Products {
 public:
  explicit Products(const ModelFile& model)
      : plan_(make_plan(model.config(), model.weights(), {.context = 64})), region_(Mapping::memory(plan_.weight_bytes)) {
    Team team(2);
    load_weights(plan_, reinterpret_cast<std::uint8_t*>(region_.begin()), team, {});
  }

  const Plan& plan() const { return plan_; }
  const PlannedWeight& weight(const Step& step) const { return plan_.weights[static_cast<std::size_t>(step.weight)]; }

  // [rows, n], by gemm in one call, or by gemv row by row.
  std::vector<float> run(const Step& step, const Activations& x, std::int64_t rows, bool gemm) const {
    const Weight& stored = *weight(step).stored;
    const Chosen chosen = choose(gemm ? *step.prefill : *step.decode, forced_isa());
    std::vector<float> y(static_cast<std::size_t>(rows * stored.rows));
    const std::int64_t m = gemm ? rows : 1;
    for (std::int64_t row = 0; row < rows; row += m) {
      const ProductArgs args{reinterpret_cast<const std::uint8_t*>(region_.begin()) + weight(step).offset,
                             x.bytes.data() + static_cast<std::size_t>(row * x.stride) * x.element,
                             y.data() + row * stored.rows,
                             m,
                             stored.rows,
                             stored.cols,
                             x.stride,
                             stored.rows};
      if (invoke(chosen, &args) != ASSAY_OK) throw std::runtime_error(std::string(chosen.name) + " refused");
    }
    return y;
  }

 private:
  Plan plan_;
  Mapping region_;
};

double nmse(const std::vector<float>& ours, const Array& theirs) {
  EXPECT_EQ(std::ssize(ours), theirs.elements());
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double t = theirs.as<float>()[i];
    error += (ours[i] - t) * (ours[i] - t);
    size += t * t;
  }
  return error / size;
}

TEST_P(EngineLlama, EachLinearSiteOnLlamaCppsInput) {
  const Products products(model_);
  std::int64_t compared = 0;
  double worst = 0;
  std::string worst_at;
  for (const Step& step : products.plan().steps) {
    if (step.kind != StepKind::linear) continue;
    const Array x = rows_of(input_of(step.site));
    const Array y = rows_of(step.site);
    const Weight& stored = *products.weight(step).stored;
    const std::int64_t rows = x.shape.front();
    ASSERT_EQ(x.elements(), rows * stored.cols) << step.site;
    const Activations activations = rounded(*products.weight(step).layout, x.as<float>(), rows, stored.cols);
    const std::vector<float> ours = products.run(step, activations, rows, true);
    EXPECT_EQ(ours, products.run(step, activations, rows, false)) << step.site;
    const double error = nmse(ours, y);
    EXPECT_LE(error, kMostSiteNmse) << step.site;
    if (error > worst) worst_at = step.site;
    worst = std::max(worst, error);
    ++compared;
    // What the limit is for: activations as they are exceed it.
    if (products.weight(step).layout->stored == DType::f16) {
      const std::vector<float> exact = products.run(step, unrounded(x.as<float>(), rows, stored.cols), rows, true);
      EXPECT_GT(nmse(exact, y), 100 * kMostSiteNmse) << step.site;
    }
  }
  EXPECT_EQ(compared, 7 * products.plan().config.layers + 1);
  fmt::print("{} linear sites: NMSE at most {:.2e}, at {}\n", compared, worst, worst_at);
}

// A last bit that crosses a tie: a code, or q8_0's scale, which is an f16. That of q8_k is an f32 and has no such ties.
struct Flipped {
  std::int64_t codes = 0;
  std::int64_t scales = 0;
};

template <class Block>
Flipped different(const Array& ours, const Activations& theirs) {
  Flipped out;
  const auto* const a = reinterpret_cast<const Block*>(ours.bytes.data());
  const auto* const b = reinterpret_cast<const Block*>(theirs.bytes.data());
  EXPECT_EQ(ours.bytes.size(), theirs.bytes.size());
  for (std::size_t i = 0; i < theirs.bytes.size() / sizeof(Block); ++i) {
    for (std::size_t j = 0; j < std::size(b[i].qs); ++j) out.codes += a[i].qs[j] != b[i].qs[j] ? 1 : 0;
    if constexpr (std::is_same_v<Block, BlockQ8_0>) out.scales += a[i].d != b[i].d ? 1 : 0;
  }
  return out;
}

// Against what llama.cpp's values at that site are quantised to.
Flipped flipped(const Array& ours, const Array& theirs) {
  const std::int64_t rows = theirs.shape.front();
  const std::int64_t k = theirs.elements() / rows;
  if (ours.dtype == DType::q8_0) return different<BlockQ8_0>(ours, quantized(DType::q8_0, theirs.as<float>(), rows, k));
  return different<BlockQ8_K>(ours, quantized(DType::q8_k, theirs.as<float>(), rows, k));
}

TEST_P(EngineLlama, EndToEnd) {
  EngineOptions options;
  options.plan.context = 64;
  options.plan.all_logits = true;
  options.plan.rope = ASSAY_ROPE_GGML;
  options.threads = 2;
  Engine engine(model_, options);
  const PromptEvaluation found = evaluate_prompt(engine, trace_, prompt_.name, nullptr, nullptr);
  EXPECT_EQ(found.logits.rows(), std::ssize(prompt_.tokens));
  EXPECT_LE(found.logits.nmse(), GetParam().most_nmse);
  EXPECT_LE(found.logits.largest_kl(), GetParam().most_kl);
  for (const Flip& flip : found.logits.flips()) {
    EXPECT_LT(flip.row.gap, flip.row.rms) << "token " << flip.position << ": ours " << flip.row.ours << ", theirs "
                                          << flip.row.theirs;
  }
  fmt::print("NMSE {:.2e}, KL {:.2e}, at most {:.2e}, {} flips of {}\n", found.logits.nmse(), found.logits.mean_kl(),
             found.logits.largest_kl(), found.logits.flips().size(), found.logits.rows());

  SiteRows codes({}, [](const std::string& site) { return site.ends_with(".quant"); });
  engine.reset();
  engine.feed(prompt_.tokens, Logits::all, &codes);
  Flipped all;
  for (const auto& [site, ours] : codes.sites()) {
    const Flipped one = flipped(ours, rows_of(site.substr(0, site.size() - std::string_view(".quant").size())));
    all.codes += one.codes;
    all.scales += one.scales;
    fmt::print("  {:<28} flipped: {:6} of {} codes, {:4} scales\n", site, one.codes, ours.elements() * dtype_numbers(ours.dtype),
               one.scales);
  }
  const bool quantises = std::string(GetParam().type) != "f16";
  EXPECT_EQ(!codes.sites().empty(), quantises);
  // Where nothing flips there is no more between us than fp32's own rounding.
  EXPECT_TRUE(!quantises || all.codes + all.scales > 0 || found.logits.nmse() <= kMostSiteNmse);
}

INSTANTIATE_TEST_SUITE_P(Models, EngineLlama, testing::ValuesIn(kSamples), [](const auto& sample) {
  std::string name = std::string(sample.param.model) + "_" + sample.param.type;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace assay::engine_llama_test
