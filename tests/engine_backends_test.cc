// The two backends of a plan: references in the place of kernels, for one step or for all, on the same buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <numeric>
#include <set>

#include "engine/run/site_rows.h"
#include "golden/trace.h"
#include "tests/engine_support.h"

namespace assay::engine_backends_test {
namespace {

Engine engine_of(const ModelFile& model, int threads = 2, std::int64_t context = 64) {
  EngineOptions options;
  options.threads = threads;
  options.plan.context = context;
  options.plan.all_logits = true;
  return {model, options};
}

std::size_t step_at(const Engine& engine, const std::string& site) {
  return engine.plan().find(site).value();
}

std::int64_t row_bytes(const RowsView& view) {
  const std::int64_t elements = std::accumulate(view.shape.begin(), view.shape.end(), std::int64_t{1}, std::multiplies());
  return elements * static_cast<std::int64_t>(dtype_size(view.dtype));
}

// A step's rows as they lie, gaps included.
std::vector<std::uint8_t> bytes_of(const RowsView& view) {
  return {view.data, view.data + (view.rows - 1) * view.row_stride + row_bytes(view)};
}

void put_back(const RowsView& view, const std::vector<std::uint8_t>& bytes) {
  std::memcpy(const_cast<std::uint8_t*>(view.data), bytes.data(), bytes.size());
}

// Runs the reference of each step on what its kernel was given, holds the kernel's outputs to it, and leaves all as it was.
class HoldsStepsToReferences final : public Observer {
 public:
  explicit HoldsStepsToReferences(Engine& engine) : engine_(engine) {}

  bool wants(const Step&) const override { return true; }

  void before(const StepRun& run) override {
    inputs_.clear();
    for (const RowsView& view : run.inputs) inputs_.push_back(bytes_of(view));
  }

  void after(const StepRun& run) override {
    if (run.step().kind == StepKind::kv_store) return;  // its rows are in the cache
    const RowsView& output = run.outputs[0];
    const std::vector<std::uint8_t> ours = bytes_of(output);
    for (std::size_t i = 0; i < inputs_.size(); ++i) put_back(run.inputs[i], inputs_[i]);
    ReferenceSink sink;
    sink.reset(reinterpret_cast<const float*>(output.data), std::ssize(ours) / 4);
    std::ranges::fill(sink.value, std::nan(""));  // what the reference leaves out is not what it should be
    EXPECT_EQ(engine_.calls().run_by_reference(run.index, *run.pass, &sink, engine_.team()), ASSAY_OK) << run.step().site;
    const std::vector<std::uint8_t> theirs = bytes_of(output);
    if (is_exact(run.step().kind)) {
      EXPECT_TRUE(ours == theirs) << run.step().site;
    } else {
      compare(run, output, ours, sink);
    }
    put_back(output, ours);
    sites.insert(run.step().site);
  }

  std::set<std::string> sites;
  double largest_margin = 0;

 private:
  static bool is_exact(StepKind kind) { return kind == StepKind::embed || kind == StepKind::quantize; }

  void compare(const StepRun& run, const RowsView& output, const std::vector<std::uint8_t>& ours, const ReferenceSink& sink) {
    double largest = 0;
    for (std::int64_t row = 0; row < output.rows; ++row) {
      for (std::int64_t i = 0; i < row_bytes(output) / 4; ++i) {
        const auto at = static_cast<std::size_t>(row * output.row_stride / 4 + i);
        float value = 0;
        std::memcpy(&value, ours.data() + at * 4, sizeof value);
        ASSERT_EQ(sink.bits_only[at], 0) << run.step().site;
        const double error = std::abs(static_cast<double>(value) - sink.value[at]);
        ASSERT_LE(error, sink.bound[at]) << run.step().site << " row " << row << " column " << i;
        if (error > 0) largest = std::max(largest, error / sink.bound[at]);
      }
    }
    largest_margin = std::max(largest_margin, largest);
  }

  Engine& engine_;
  std::vector<std::vector<std::uint8_t>> inputs_;
};

TEST(EngineBackends, EveryStepIsWithinItsReferencesBound) {
  for (const char* const name : {"bf16-folder", "q4_k_m-llama.cpp", "motley", "odd-f16", "odd-q8_0", "odd-q4_k_m"}) {
    SCOPED_TRACE(name);
    const ModelFile model(test_model(name));
    Engine engine = engine_of(model);
    const std::vector<std::int32_t> tokens = prompt_tokens("genesis", 12);
    const auto plain = logits_of_all(engine, tokens, 11);
    engine.reset();
    HoldsStepsToReferences observer(engine);
    EXPECT_EQ(logits_of_all(engine, tokens, 11, &observer), plain);  // 11 by prefill, one by decode
    EXPECT_EQ(observer.sites.size(), engine.plan().steps.size() - static_cast<std::size_t>(model.config().layers))
        << "all but kv_store";
    EXPECT_GT(observer.largest_margin, 0);
  }
}

TEST(EngineBackends, ExactStepsByTheirReferencesChangeNoBit) {
  for (const char* const name : {"bf16-folder", "q4_k_m-llama.cpp", "q8_0", "motley"}) {
    SCOPED_TRACE(name);
    const ModelFile model(test_model(name));
    Engine engine = engine_of(model);
    const std::vector<std::int32_t> tokens = prompt_tokens("genesis", 12);
    const auto plain = logits_of_all(engine, tokens, 11);
    int changed = 0;
    for (std::size_t i = 0; i < engine.plan().steps.size(); ++i) {
      const StepKind kind = engine.plan().steps[i].kind;
      if (kind != StepKind::embed && kind != StepKind::quantize && kind != StepKind::kv_store) continue;
      engine.choose(i, Backend::reference, selected_isa());
      EXPECT_EQ(engine.calls().chosen(i, true).backend, Backend::reference);
      ++changed;
    }
    EXPECT_GE(changed, 7);
    engine.reset();
    EXPECT_EQ(logits_of_all(engine, tokens, 11), plain);
  }
}

double rms_error(const Array& ours, const Array& truth) {
  EXPECT_EQ(ours.elements(), truth.elements());
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(truth.elements()); ++i) {
    const double want = element_as_double(truth.dtype, truth.bytes.data() + i * dtype_size(truth.dtype));
    sum += std::pow(static_cast<double>(ours.as<float>()[i]) - want, 2);
  }
  return std::sqrt(sum / static_cast<double>(truth.elements()));
}

SiteRows run_all(Engine& engine, std::span<const std::int32_t> tokens, Backend backend) {
  engine.reset();
  engine.choose_all(backend, selected_isa());
  SiteRows rows({});
  engine.feed(tokens, Logits::all, &rows);
  return rows;
}

// The reference rounds once a step, to what the step writes.
TEST(EngineBackends, TheReferenceIsNearerToTheTruthThanKernelsAre) {
  const ModelFile model(test_model("bf16-folder"));
  const TraceFile trace(committed_models().parent_path() / "traces" / "kjv-f64.h5");
  const TracePrompt prompt = trace.prompt("genesis");
  ASSERT_EQ(prompt.positions.size(), prompt.tokens.size());
  Engine engine = engine_of(model, 2, std::ssize(prompt.tokens));
  const SiteRows kernels = run_all(engine, prompt.tokens, Backend::kernels);
  const SiteRows references = run_all(engine, prompt.tokens, Backend::reference);
  int linear = 0;
  std::vector<double> ratios;
  for (const std::string& site : prompt.sites) {
    const Array truth = trace.site(prompt, site);
    const double ratio = rms_error(references.at(site), truth) / rms_error(kernels.at(site), truth);
    if (engine.plan().steps[step_at(engine, site)].kind != StepKind::linear) continue;
    ++linear;
    EXPECT_LT(ratio, 1) << site;
    ratios.push_back(ratio);
  }
  EXPECT_EQ(linear, 6 * 7 + 1);
  std::ranges::sort(ratios);
  std::cout << "RMS(reference - f64) / RMS(kernels - f64) at linear sites: " << ratios.front() << " to " << ratios.back() << "\n";
}

// One step by its reference: what is computed before it keeps its bits, and choosing the kernel again brings all of them back.
TEST(EngineBackends, AStepIsSwappedByItself) {
  const ModelFile model(test_model("bf16-folder"));
  Engine engine = engine_of(model);
  const std::vector<std::int32_t> tokens = prompt_tokens("genesis", 9);
  const SiteRows kernels = run_all(engine, tokens, Backend::kernels);
  const std::size_t swapped = step_at(engine, "layers.03.gate_proj");
  engine.choose(swapped, Backend::reference, selected_isa());
  engine.reset();
  SiteRows mixed({});
  engine.feed(tokens, Logits::all, &mixed);
  for (std::size_t i = 0; i < swapped; ++i) {
    const std::string& site = engine.plan().steps[i].site;
    EXPECT_EQ(mixed.at(site).bytes, kernels.at(site).bytes) << site;
  }
  EXPECT_NE(mixed.at("layers.03.gate_proj").bytes, kernels.at("layers.03.gate_proj").bytes);
  EXPECT_EQ(mixed.at("layers.03.up_proj").bytes, kernels.at("layers.03.up_proj").bytes);
  EXPECT_NE(mixed.at("lm_head").bytes, kernels.at("lm_head").bytes);
  engine.choose(swapped, Backend::kernels, Isa::scalar);
  EXPECT_STREQ(engine.calls().chosen(swapped, false).name, "gemm_bf16_scalar");
  EXPECT_STREQ(engine.calls().chosen(swapped, true).name, "matvec_bf16_scalar");
  engine.reset();
  SiteRows again({});
  engine.feed(tokens, Logits::all, &again);
  EXPECT_EQ(again.at("lm_head").bytes, kernels.at("lm_head").bytes);
}

// A pass that ends early has run the steps up to there.
TEST(EngineBackends, APassEndsWhereItIsTold) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  Engine engine = engine_of(model);
  const std::vector<std::int32_t> tokens = prompt_tokens("genesis", 9);
  const SiteRows whole = run_all(engine, tokens, Backend::kernels);
  engine.stop_after(step_at(engine, "layers.02.attn.quant"));
  engine.reset();
  SiteRows part({});
  engine.feed(tokens, Logits::last, &part);
  EXPECT_EQ(part.sites().size(), step_at(engine, "layers.02.attn.quant") + 1);
  for (const auto& [site, rows] : part.sites()) EXPECT_EQ(rows.bytes, whole.at(site).bytes) << site;
}

}  // namespace
}  // namespace assay::engine_backends_test
