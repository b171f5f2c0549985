#include "harness/forensics/extract/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/plan/fuse.h"
#include "engine/plan/plan.h"
#include "engine/plan/weight_layout.h"
#include "harness/forensics/audit/trace_rows.h"
#include "harness/forensics/model/wiring.h"
#include "harness/forensics/trace/prompts.h"
#include "harness/verdict/nearest.h"
#include "reference/encode.h"
#include "reference/ops/op.h"
#include "reference/rope.h"

namespace assay {
namespace {

Array integers(const std::vector<std::int32_t>& values) {
  Array array{DType::i32, {std::ssize(values)}, std::vector<std::uint8_t>(values.size() * sizeof(std::int32_t))};
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

class Extractor {
 public:
  explicit Extractor(const ExtractRequest& request)
      : request_(request), plan_(plan_of(request)), rows_(*request.trace, prompt_name(request)) {}

  Extracted run() {
    const auto index = plan_.find(request_.site);
    if (!index) {
      std::vector<std::string> sites;
      for (const Step& step : plan_.steps) sites.push_back(step.site);
      throw std::invalid_argument(unknown_name("site", request_.site, sites));
    }
    step_ = &plan_.steps[*index];
    wiring_ = *wiring_of_site(plan_.config, request_.site);
    count_ = std::ssize(rows_.prompt().positions);
    op_ = count_ == 1 ? step_->decode : step_->prefill;
    out_.op = op_->name;
    fill();
    out_.golden.name = rows_.prompt().name + "." + request_.site;
    out_.golden.tags = {"real"};
    add_truth(*op_, out_.golden);
    if (rows_.has(request_.site)) out_.recorded = rows_.site(request_.site);
    return std::move(out_);
  }

 private:
  static Plan plan_of(const ExtractRequest& request) {
    Plan plan = make_plan(request.model->config(), request.model->weights(), {});
    if (request.fused) fuse_quantisation(plan, {request.site});
    return plan;
  }

  static std::string prompt_name(const ExtractRequest& request) {
    using Names = std::vector<std::string>;
    return chosen_prompts(*request.trace, request.prompt.empty() ? Names{} : Names{request.prompt}).front();
  }

  void fill() {
    using Fill = void (Extractor::*)();
    constexpr Fill kInOrderOfFormula[] = {&Extractor::rope_table, &Extractor::embed, &Extractor::rms_norm, &Extractor::quantize,
                                          &Extractor::linear,     &Extractor::rope,  &Extractor::kv_store, &Extractor::attention,
                                          &Extractor::add,        &Extractor::swiglu};
    (this->*kInOrderOfFormula[static_cast<std::size_t>(wiring_.formula)])();
  }

  void set(const char* name, ParamValue value) { out_.golden.params.set(name, std::move(value)); }
  void give(const char* name, Array array) { out_.golden.inputs[name] = std::move(array); }

  // The rows that feed the site, as the definition has it.
  RowMatrix input(std::size_t i) {
    const Source& source = wiring_.inputs[i];
    const auto gathered = rows_.gather(source);
    if (gathered) return *gathered;
    throw std::invalid_argument(fmt::format("{}: {} needs {}, which the trace does not hold", request_.trace->path().string(),
                                            request_.site, source_text(source)));
  }

  const PlannedWeight& weight() const { return plan_.weights[static_cast<std::size_t>(step_->weight)]; }

  std::vector<std::int32_t> row_tokens() const {
    std::vector<std::int32_t> tokens;
    for (const std::int32_t position : rows_.prompt().positions)
      tokens.push_back(rows_.prompt().tokens[static_cast<std::size_t>(position)]);
    return tokens;
  }

  void rope_table() {
    set("rows", count_);
    set("pairs", plan_.config.head_dim / 2);
    set("theta", plan_.config.rope_theta);
    set("recipe", std::string("f64"));
    give("positions", integers(rows_.prompt().positions));
  }

  // A table of numbers whole; of blocks, the rows that were looked up, one after the other.
  void embed() {
    const Weight& table = *weight().stored;
    if (!is_block(table.dtype)) {
      set("vocab", table.rows);
      set("rows", count_);
      set("n", table.cols);
      give("table", {table.dtype, {table.rows, table.cols}, {table.bytes.begin(), table.bytes.end()}});
      give("ids", integers(row_tokens()));
      return;
    }
    const auto row = static_cast<std::ptrdiff_t>(table.bytes.size()) / table.rows;
    Array blocks{table.dtype, {count_ * table.cols / dtype_numbers(table.dtype)}, {}};
    for (const std::int32_t token : row_tokens()) {
      blocks.bytes.insert(blocks.bytes.end(), table.bytes.begin() + token * row, table.bytes.begin() + (token + 1) * row);
    }
    set("n", count_ * table.cols);
    give("src", std::move(blocks));
  }

  void rms_norm() {
    const std::int64_t heads = wiring_.heads;
    const std::int64_t n = weight().stored->cols;
    set("rows", count_ * heads);
    set("n", n);
    set("eps", static_cast<double>(static_cast<float>(plan_.config.rms_eps)));
    give("x", floats(input(0), {count_ * heads, n}));
    give("w", floats(DecodedWeight(*weight().stored).rows(0, 1).value, {n}));
  }

  void quantize() {
    const RowMatrix x = input(0);
    set("rows", count_);
    set("k", x.cols());
    give("src", floats(x, {count_, x.cols()}));
  }

  // Activations that the op takes in blocks are quantised here from the site that the plan quantises, by the reference.
  void linear() {
    const WeightLayout& layout = *weight().layout;
    const std::int64_t n = weight().stored->rows;
    const std::int64_t k = weight().stored->cols;
    const bool one_row = count_ == 1 && !request_.fused;  // the op takes no m
    if (!one_row) set("m", count_);
    set("n", n);
    set("k", k);
    std::vector<std::int64_t> shape = !is_block(layout.stored)
                                          ? std::vector<std::int64_t>{layout.groups(n), k, layout.group}
                                          : std::vector<std::int64_t>{layout.groups(n), k / dtype_numbers(layout.stored)};
    Array w{layout.weights, std::move(shape), std::vector<std::uint8_t>(static_cast<std::size_t>(layout.bytes(n, k)))};
    pack_groups(layout, weight().stored->bytes.data(), w.bytes.data(), n, k, 0, layout.groups(n));
    give("w", std::move(w));
    Array x = floats(input(0), {count_, k});
    if (layout.activations != DType::f32) x = quantised(layout.activations, x, k);
    if (one_row) x.shape.erase(x.shape.begin());
    give("x", std::move(x));
  }

  Array quantised(DType dtype, const Array& x, std::int64_t k) const {
    Array out{dtype, {count_, k / dtype_numbers(dtype)}, {}};
    for (std::int64_t row = 0; row < count_; ++row) {
      const auto blocks = reference::encode(dtype, reference::Rounding::nearest_even, x.as<float>() + row * k, k);
      out.bytes.insert(out.bytes.end(), blocks.begin(), blocks.end());
    }
    return out;
  }

  void rope() {
    const std::int64_t d = plan_.config.head_dim;
    set("rows", count_);
    set("heads", wiring_.heads);
    set("head_dim", d);
    set("pairing", std::string("split"));
    give("x", floats(input(0), {count_, wiring_.heads, d}));
    const RowMatrix angles = table();
    give("cos", floats(angles.leftCols(d / 2), {1, count_, d / 2}));
    give("sin", floats(angles.rightCols(d / 2), {1, count_, d / 2}));
  }

  // [row, cos then sin]: the trace's own, or that of the recipe f64.
  RowMatrix table() {
    if (rows_.has("rope_table")) return rows_.site("rope_table");
    const std::int64_t pairs = plan_.config.head_dim / 2;
    reference::Expected cos;
    reference::Expected sin;
    reference::rope_table({rows_.prompt().positions.data(), nullptr, nullptr, nullptr, count_, pairs, pairs,
                           plan_.config.rope_theta, ASSAY_ROPE_F64},
                          cos, sin);
    RowMatrix out(count_, 2 * pairs);
    out.leftCols(pairs) = Eigen::Map<const RowMatrix>(cos.value.data(), count_, pairs);
    out.rightCols(pairs) = Eigen::Map<const RowMatrix>(sin.value.data(), count_, pairs);
    return out;
  }

  void kv_store() {
    const std::int64_t heads = plan_.config.kv_heads;
    const std::int64_t d = plan_.config.head_dim;
    set("tokens", count_);
    set("n_kv", heads);
    set("head_dim", d);
    set("capacity", round_up(count_, 16));
    give("src", floats(input(0), {count_, heads, d}));
  }

  // K and V as one span, [1, n_kv, positions, head_dim].
  void attention() {
    const std::int64_t n_kv = plan_.config.kv_heads;
    const std::int64_t d = plan_.config.head_dim;
    if (!rows_.all_rows())
      throw std::invalid_argument("attention needs the keys and values of all positions, and the trace keeps some rows");
    if (count_ > 1) set("rows", count_);
    set("n_kv", n_kv);
    set("group", plan_.config.heads / n_kv);
    set("head_dim", d);
    set("length", count_);
    set("causal", std::int64_t{1});
    set("window", request_.window);
    set("scale", static_cast<double>(static_cast<float>(1.0 / std::sqrt(static_cast<double>(d)))));
    std::vector<std::int64_t> q{count_, plan_.config.heads, d};
    if (count_ == 1) q.erase(q.begin());
    give("q", floats(input(0), q));
    give("k", floats(by_head(input(1)), {1, n_kv, count_, d}));
    give("v", floats(by_head(input(2)), {1, n_kv, count_, d}));
  }

  // [row, head, d] to [head, row, d].
  RowMatrix by_head(const RowMatrix& rows) const {
    const std::int64_t d = plan_.config.head_dim;
    const std::int64_t heads = rows.cols() / d;
    RowMatrix out(heads * rows.rows(), d);
    for (Eigen::Index row = 0; row < rows.rows(); ++row) {
      for (std::int64_t head = 0; head < heads; ++head) out.row(head * rows.rows() + row) = rows.row(row).segment(head * d, d);
    }
    return out;
  }

  void add() {
    const RowMatrix a = input(0);
    set("n", a.size());
    give("a", floats(a, {a.size()}));
    give("b", floats(input(1), {a.size()}));
  }

  void swiglu() {
    const RowMatrix gate = input(0);
    set("rows", count_);
    set("n", gate.cols());
    give("gate", floats(gate, {count_, gate.cols()}));
    give("up", floats(input(1), {count_, gate.cols()}));
  }

  const ExtractRequest& request_;
  Plan plan_;
  TraceRows rows_;
  const Step* step_ = nullptr;
  const Op* op_ = nullptr;
  SiteWiring wiring_;
  std::int64_t count_ = 0;
  Extracted out_;
};

}  // namespace

Array floats(const RowMatrix& rows, std::vector<std::int64_t> shape) {
  Array array{DType::f32, std::move(shape), std::vector<std::uint8_t>(static_cast<std::size_t>(rows.size()) * sizeof(float))};
  auto* const out = reinterpret_cast<float*>(array.bytes.data());
  for (Eigen::Index i = 0; i < rows.size(); ++i) out[i] = static_cast<float>(rows.data()[i]);
  return array;
}

Extracted extract(const ExtractRequest& request) {
  return Extractor(request).run();
}

}  // namespace assay
