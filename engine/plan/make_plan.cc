#include <algorithm>
#include <array>
#include <stdexcept>

#include "engine/files/file_error.h"
#include "engine/plan/placement.h"
#include "engine/plan/plan.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

constexpr std::int64_t kMostRopePositions = std::int64_t{1} << 24;
constexpr std::int64_t kMostAttentionHeadDim = 512;

Operand part(int slot, std::int64_t width) {
  return {slot, 0, 0, width};
}

const Op& op_of(const OpTable& table) {
  return the_op(table.op);
}

class Builder {
 public:
  Builder(Plan& plan, const WeightMap& weights) : plan_(plan), config_(plan.config), weights_(weights) {}

  void build() {
    make_slots();
    add("rope_table", StepKind::rope_table, -1, {part(plan_.positions_slot, 1)}, {angles()}, op_of(kernel_tables::rope_table));
    const Weight& table = weights_.at(Role::embed);
    add("embed", StepKind::embed, -1, {part(plan_.tokens_slot, 1)}, {part(residual_[0], config_.hidden)},
        is_block(table.dtype) ? codec_op(CodecForm::decode, table.dtype) : embed_op(table.dtype), take_weight(table, true));
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
      attention(layer);
      feed_forward(layer);
    }
    head();
  }

 private:
  int slot(std::string name, DType dtype, std::int64_t width) {
    plan_.slots.push_back({std::move(name), dtype, width});
    return static_cast<int>(plan_.slots.size()) - 1;
  }

  void make_slots() {
    plan_.tokens_slot = slot("tokens", DType::i32, 1);
    plan_.positions_slot = slot("positions", DType::i32, 1);
    rope_ = slot("rope", DType::f32, config_.head_dim);
    residual_ = {slot("residual_0", DType::f32, config_.hidden), slot("residual_1", DType::f32, config_.hidden)};
    normed_ = slot("normed", DType::f32, config_.hidden);
    qkv_ = slot("qkv", DType::f32, config_.q_width() + 2 * config_.kv_width());
    attn_ = slot("attn", DType::f32, config_.q_width());
    branch_ = slot("branch", DType::f32, config_.hidden);
    gate_ = slot("gate", DType::f32, config_.ffn);
    up_ = slot("up", DType::f32, config_.ffn);
    final_ = slot_of_logits("final", config_.hidden);
    plan_.logits_slot = slot_of_logits("logits", config_.vocab);
  }

  int slot_of_logits(std::string name, std::int64_t width) {
    const int made = slot(std::move(name), DType::f32, width);
    plan_.slots.back().of_logits = true;
    return made;
  }

  // What follows works on the tokens whose logits are asked for: behind the last layer's keys and values nothing reads the others.
  void narrow() {
    for (int* const one : {residual_.data(), &residual_[1], &normed_, &attn_, &branch_, &gate_, &up_}) {
      const Slot& whole = plan_.slots[static_cast<std::size_t>(*one)];
      *one = slot_of_logits("last_" + whole.name, whole.width);
    }
  }

  Operand angles() const { return {rope_, 0, 2, config_.head_dim / 2}; }

  // A step whose decode and prefill are the same op. It has the rows of what it writes.
  Step& add(std::string site, StepKind kind, std::int64_t layer, std::vector<Operand> inputs, std::vector<Operand> outputs,
            const Op& op, int weight = -1) {
    const bool of_logits = !outputs.empty() && plan_.slots[static_cast<std::size_t>(outputs[0].slot)].of_logits;
    plan_.steps.push_back({std::move(site), kind, layer, std::move(inputs), std::move(outputs), weight, of_logits, &op, &op});
    return plan_.steps.back();
  }

  std::string site(std::int64_t layer, std::string_view name) const {
    const std::string norm = site_of(Role::attn_norm, layer);  // "layers.07.attn_norm"
    return norm.substr(0, norm.rfind('.') + 1) + std::string(name);
  }

  // Takes a weight in; each is asked for once.
  int take_weight(const Weight& weight, bool in_file = false) {
    PlannedWeight planned{&weight, nullptr, in_file, 0, 0};
    if (in_file) {
      planned.bytes = static_cast<std::int64_t>(weight.bytes.size());
    } else if (is_norm(weight.role)) {
      planned.bytes = weight.cols * static_cast<std::int64_t>(sizeof(float));
    } else {
      planned.layout = find_weight_layout(weight.dtype);
      if (planned.layout == nullptr) {
        throw ModelFileError(Fault::tensor_type, {weight.file, weight.offset, "tensor " + shown(weight.name)},
                             "no kernel multiplies with " + std::string(dtype_name(weight.dtype)) + "; there are kernels for " +
                                 multiplied_types());
      }
      planned.bytes = planned.layout->bytes(weight.rows, weight.cols);
    }
    plan_.weights.push_back(planned);
    return static_cast<int>(plan_.weights.size()) - 1;
  }

  Step& norm(Role role, std::int64_t layer, const Operand& from, const Operand& to) {
    const Weight& weight = weights_.at(role, layer);
    return add(weight.site, StepKind::rms_norm, layer, {from}, {to}, op_of(kernel_tables::rms_norm), take_weight(weight));
  }

  // The slot of `source`, which the site `from` wrote, as activations of that type; quantised where that is not done yet.
  class Activations {
   public:
    Activations(Builder& builder, std::string from, std::int64_t layer, const Operand& source, std::vector<Role> readers)
        : builder_(builder), from_(std::move(from)), layer_(layer), source_(source) {
      for (const Role role : readers) types_.push_back(builder.activations_of(role, layer));
      std::ranges::sort(types_);
      types_.erase(std::ranges::unique(types_).begin(), types_.end());
      std::erase(types_, DType::f32);
      for (const DType type : types_) quantize(type);
    }

    Operand as(DType type) const {
      if (type == DType::f32) return source_;
      const auto at = std::ranges::find(types_, type) - types_.begin();
      return quantised_[static_cast<std::size_t>(at)];
    }

   private:
    void quantize(DType type) {
      const std::string name(dtype_name(type));
      const Operand to = part(builder_.quantised_slot(source_.slot, type), source_.width / dtype_numbers(type));
      // Readers in two formats: the site's name says which.
      const std::string site = from_ + (types_.size() == 1 ? ".quant" : ".quant_" + name);
      builder_.add(site, StepKind::quantize, layer_, {source_}, {to}, codec_op(CodecForm::quantize, type));
      quantised_.push_back(to);
    }

    Builder& builder_;
    std::string from_;
    std::int64_t layer_;
    Operand source_;
    std::vector<DType> types_;
    std::vector<Operand> quantised_;
  };

  DType activations_of(Role role, std::int64_t layer) const {
    const WeightLayout* const layout = find_weight_layout(matrix(role, layer).dtype);
    return layout == nullptr ? DType::f32 : layout->activations;  // take_weight refuses it
  }

  const Weight& matrix(Role role, std::int64_t layer) const {
    return role == Role::lm_head ? weights_.lm_head() : weights_.at(role, layer);
  }

  int quantised_slot(int source, DType dtype) {
    const Slot& of = plan_.slots[static_cast<std::size_t>(source)];
    const std::string name = of.name + "." + std::string(dtype_name(dtype));
    const auto found = std::ranges::find(plan_.slots, name, &Slot::name);
    if (found != plan_.slots.end()) return static_cast<int>(found - plan_.slots.begin());
    const bool of_logits = of.of_logits;
    const int made = slot(name, dtype, of.width / dtype_numbers(dtype));
    plan_.slots.back().of_logits = of_logits;
    return made;
  }

  Step& linear(Role role, std::int64_t layer, const Activations& activations, const Operand& to) {
    const Weight& weight = matrix(role, layer);
    const int planned = take_weight(weight);
    const WeightLayout& layout = *plan_.weights[static_cast<std::size_t>(planned)].layout;
    Step& step =
        add(site_of(role, layer), StepKind::linear, layer, {activations.as(layout.activations)}, {to}, *layout.gemv, planned);
    step.prefill = layout.gemm;
    return step;
  }

  void residual(std::int64_t layer, std::string_view name, int from, int to) {
    const std::int64_t n = config_.hidden;
    add(site(layer, name), StepKind::add, layer, {part(from, n), part(branch_, n)}, {part(to, n)}, op_of(kernel_tables::add));
  }

  void rotate(std::int64_t layer, std::string_view name, const Operand& heads) {
    add(site(layer, name), StepKind::rope, layer, {heads, angles()}, {heads}, op_of(kernel_tables::rope));
  }

  void attention(std::int64_t layer) {
    const std::int64_t d = config_.head_dim;
    const bool narrows = layer == config_.layers - 1 && !plan_.options.whole_last_layer;
    const Operand q{narrows ? slot_of_logits("last_q", config_.q_width()) : qkv_, 0, config_.heads, d};
    const Operand k{qkv_, config_.q_width(), config_.kv_heads, d};
    const Operand v{qkv_, config_.q_width() + config_.kv_width(), config_.kv_heads, d};
    const auto flat = [](const Operand& heads) { return Operand{heads.slot, heads.column, 0, heads.columns()}; };

    const int stream = residual_[0];
    norm(Role::attn_norm, layer, part(stream, config_.hidden), part(normed_, config_.hidden));
    const Activations normed(*this, site_of(Role::attn_norm, layer), layer, part(normed_, config_.hidden),
                             {Role::q_proj, Role::k_proj, Role::v_proj});
    if (narrows) narrow();
    linear(Role::q_proj, layer, normed, flat(q));
    linear(Role::k_proj, layer, normed, flat(k));
    linear(Role::v_proj, layer, normed, flat(v));
    norm(Role::q_norm, layer, q, q);
    norm(Role::k_norm, layer, k, k);
    rotate(layer, "q_rope", q);
    rotate(layer, "k_rope", k);
    const KvType type = plan_.options.kv_type;
    add(site(layer, "kv_store"), StepKind::kv_store, layer, {k, v}, {}, kv_op(KvForm::store, type));
    add(site(layer, "attn"), StepKind::attention, layer, {q}, {part(attn_, config_.q_width())},
        attention_op(AttentionForm::decode, type))
        .prefill = &attention_op(AttentionForm::prefill, type);
    const Activations attended(*this, site(layer, "attn"), layer, part(attn_, config_.q_width()), {Role::o_proj});
    linear(Role::o_proj, layer, attended, part(branch_, config_.hidden));
    residual(layer, "attn_residual", stream, residual_[1]);
  }

  void feed_forward(std::int64_t layer) {
    norm(Role::ffn_norm, layer, part(residual_[1], config_.hidden), part(normed_, config_.hidden));
    const Activations normed(*this, site_of(Role::ffn_norm, layer), layer, part(normed_, config_.hidden),
                             {Role::gate_proj, Role::up_proj});
    linear(Role::gate_proj, layer, normed, part(gate_, config_.ffn));
    linear(Role::up_proj, layer, normed, part(up_, config_.ffn));
    const Operand gate = part(gate_, config_.ffn);
    add(site(layer, "swiglu"), StepKind::swiglu, layer, {gate, part(up_, config_.ffn)}, {gate}, op_of(kernel_tables::swiglu));
    const Activations gated(*this, site(layer, "swiglu"), layer, part(gate_, config_.ffn), {Role::down_proj});
    linear(Role::down_proj, layer, gated, part(branch_, config_.hidden));
    residual(layer, "ffn_residual", residual_[1], residual_[0]);
  }

  void head() {
    norm(Role::final_norm, -1, part(residual_[0], config_.hidden), part(final_, config_.hidden));
    const Activations normed(*this, site_of(Role::final_norm, -1), -1, part(final_, config_.hidden), {Role::lm_head});
    linear(Role::lm_head, -1, normed, part(plan_.logits_slot, config_.vocab));
  }

  Plan& plan_;
  const ModelConfig& config_;
  const WeightMap& weights_;
  int rope_ = -1, normed_ = -1, qkv_ = -1, attn_ = -1, branch_ = -1, gate_ = -1, up_ = -1, final_ = -1;
  std::array<int, 2> residual_{-1, -1};
};

void check_options(const PlanOptions& options, const ModelConfig& config) {
  if (options.context < 1 || options.context > config.max_positions) {
    throw std::invalid_argument("a context of " + std::to_string(options.context) + " positions; the model allows 1 .. " +
                                std::to_string(config.max_positions));
  }
  if (options.context > kMostRopePositions) {
    throw std::invalid_argument("a context of " + std::to_string(options.context) + " positions; rope counts them below 2^24");
  }
  if (config.head_dim > kMostAttentionHeadDim) {
    throw std::invalid_argument("a head_dim of " + std::to_string(config.head_dim) + "; attention's kernels take at most 512");
  }
  if (options.chunk < 1)
    throw std::invalid_argument("a prefill chunk of " + std::to_string(options.chunk) + " tokens; at least 1");
}

KvConfig kv_config(const ModelConfig& config, const PlanOptions& options) {
  KvConfig kv;
  kv.shape = {config.layers, config.kv_heads, config.head_dim, round_up(config.head_dim, 16), options.kv_type};
  kv.context = options.context;
  kv.window = options.window > 0 ? options.window : options.context;
  kv.largest_append = std::min(options.chunk, options.context);
  return kv;
}

}  // namespace

Plan make_plan(const ModelConfig& config, const WeightMap& weights, const PlanOptions& options) {
  Plan plan;
  plan.config = config;
  plan.options = options;
  if (options.context == 0) plan.options.context = std::min(kDefaultContext, config.max_positions);
  check_options(plan.options, config);
  plan.options.chunk = std::min(options.chunk, plan.options.context);
  plan.options.whole_last_layer = options.whole_last_layer || options.all_logits;
  plan.kv = kv_config(config, plan.options);
  (void)plan_kv_cache(plan.options.kv_policy, plan.kv, plan.options.context);  // refuses what the policy cannot serve
  Builder(plan, weights).build();
  place_weights(plan);
  plan.decode = place_slots(plan, 1, 1);
  plan.prefill = place_slots(plan, plan.options.chunk, plan.options.all_logits ? plan.options.chunk : 1);
  return plan;
}

}  // namespace assay
