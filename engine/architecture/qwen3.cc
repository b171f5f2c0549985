// Qwen3, dense: norms before attention and feed-forward, grouped queries with a norm of each head, SwiGLU.
#include <array>

#include "engine/architecture/architecture.h"

namespace assay {
namespace {

class Qwen3 {
 public:
  explicit Qwen3(PlanBuilder& builder) : plan_(builder), config_(builder.config()) {}

  void build() {
    make_slots();
    plan_.rope_table(angles());
    plan_.embed(stream(0));
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
      attention(layer);
      feed_forward(layer);
    }
    head();
  }

 private:
  using Activations = PlanBuilder::Activations;

  void make_slots() {
    plan_.make_input_slots();
    rope_ = plan_.slot("rope", DType::f32, config_.head_dim);
    residual_ = {plan_.slot("residual_0", DType::f32, config_.hidden), plan_.slot("residual_1", DType::f32, config_.hidden)};
    normed_ = plan_.slot("normed", DType::f32, config_.hidden);
    qkv_ = plan_.slot("qkv", DType::f32, config_.q_width() + 2 * config_.kv_width());
    attn_ = plan_.slot("attn", DType::f32, config_.q_width());
    branch_ = plan_.slot("branch", DType::f32, config_.hidden);
    gate_ = plan_.slot("gate", DType::f32, config_.ffn);
    up_ = plan_.slot("up", DType::f32, config_.ffn);
    final_ = plan_.slot_of_logits("final", config_.hidden);
    logits_ = plan_.make_logits_slot();
  }

  Operand hidden(int slot) const { return whole(slot, config_.hidden); }
  Operand stream(int which) const { return hidden(residual_[static_cast<std::size_t>(which)]); }
  Operand angles() const { return {rope_, 0, 2, config_.head_dim / 2}; }

  // Behind the last layer's keys and values nothing reads the tokens whose logits are not asked for.
  void narrow() {
    for (int* const one : {residual_.data(), &residual_[1], &normed_, &attn_, &branch_, &gate_, &up_})
      *one = plan_.last_rows_of(*one);
  }

  void attention(std::int64_t layer) {
    const std::int64_t d = config_.head_dim;
    const bool narrows = layer == config_.layers - 1 && !plan_.options().whole_last_layer;
    const Operand q{narrows ? plan_.slot_of_logits("last_q", config_.q_width()) : qkv_, 0, config_.heads, d};
    const Operand k{qkv_, config_.q_width(), config_.kv_heads, d};
    const Operand v{qkv_, config_.q_width() + config_.kv_width(), config_.kv_heads, d};
    const auto flat = [](const Operand& heads) { return Operand{heads.slot, heads.column, 0, heads.columns()}; };

    const Operand from = stream(0);
    plan_.norm(Role::attn_norm, layer, from, hidden(normed_));
    const Activations normed(plan_, site_of(Role::attn_norm, layer), layer, hidden(normed_),
                             {Role::q_proj, Role::k_proj, Role::v_proj});
    if (narrows) narrow();
    plan_.linear(Role::q_proj, layer, normed, flat(q));
    plan_.linear(Role::k_proj, layer, normed, flat(k));
    plan_.linear(Role::v_proj, layer, normed, flat(v));
    plan_.norm(Role::q_norm, layer, q, q);
    plan_.norm(Role::k_norm, layer, k, k);
    plan_.rope(site_in_layer(layer, "q_rope"), layer, q, angles());
    plan_.rope(site_in_layer(layer, "k_rope"), layer, k, angles());
    plan_.kv_store(layer, k, v);
    const Operand attn = whole(attn_, config_.q_width());
    plan_.attention(layer, q, attn);
    const Activations attended(plan_, site_in_layer(layer, "attn"), layer, attn, {Role::o_proj});
    plan_.linear(Role::o_proj, layer, attended, hidden(branch_));
    plan_.add(site_in_layer(layer, "attn_residual"), layer, from, hidden(branch_), stream(1));
  }

  void feed_forward(std::int64_t layer) {
    plan_.norm(Role::ffn_norm, layer, stream(1), hidden(normed_));
    const Activations normed(plan_, site_of(Role::ffn_norm, layer), layer, hidden(normed_), {Role::gate_proj, Role::up_proj});
    const Operand gate = whole(gate_, config_.ffn);
    const Operand up = whole(up_, config_.ffn);
    plan_.linear(Role::gate_proj, layer, normed, gate);
    plan_.linear(Role::up_proj, layer, normed, up);
    plan_.swiglu(layer, gate, up);
    const Activations gated(plan_, site_in_layer(layer, "swiglu"), layer, gate, {Role::down_proj});
    plan_.linear(Role::down_proj, layer, gated, hidden(branch_));
    plan_.add(site_in_layer(layer, "ffn_residual"), layer, stream(1), hidden(branch_), stream(0));
  }

  void head() {
    plan_.norm(Role::final_norm, -1, stream(0), hidden(final_));
    const Activations normed(plan_, site_of(Role::final_norm, -1), -1, hidden(final_), {Role::lm_head});
    plan_.linear(Role::lm_head, -1, normed, whole(logits_, config_.vocab));
  }

  PlanBuilder& plan_;
  const ModelConfig& config_;
  int rope_ = -1, normed_ = -1, qkv_ = -1, attn_ = -1, branch_ = -1, gate_ = -1, up_ = -1, final_ = -1, logits_ = -1;
  std::array<int, 2> residual_{-1, -1};
};

}  // namespace

const PlannedArchitecture kPlannedQwen3{"qwen3", "Qwen3ForCausalLM", [](PlanBuilder& builder) { Qwen3(builder).build(); }};

}  // namespace assay
