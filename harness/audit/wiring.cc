#include "harness/audit/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace assay {
namespace {

// Wirings as sentences: which role multiplies, which sites feed.
class Definition {
 public:
  explicit Definition(const ModelConfig& config) : config_(config) {}

  std::vector<SiteWiring> make() {
    add("embed", StepKind::embed, Role::embed, {});
    std::string input = "embed";
    for (layer_ = 0; layer_ < config_.layers; ++layer_) input = layer(input);
    layer_ = -1;
    add("final_norm", StepKind::rms_norm, Role::final_norm, {{input, config_.hidden}});
    add("lm_head", StepKind::linear, Role::lm_head, {{"final_norm", config_.hidden}});
    return std::move(sites_);
  }

 private:
  struct Input {
    std::string site;
    std::int64_t width;
  };

  void add(const std::string& site, StepKind kind, Role role, const std::vector<Input>& inputs) {
    SiteWiring wiring;
    wiring.site = site;
    wiring.kind = kind;
    wiring.role = role;
    wiring.layer = wiring.weight_layer = layer_;
    wiring.heads = heads_of(site);
    if (kind == StepKind::attention) wiring.kv_heads = config_.kv_heads;
    for (const Input& input : inputs) wiring.inputs.push_back({{input.site, 0, input.width}});
    sites_.push_back(std::move(wiring));
  }

  std::int64_t heads_of(std::string_view site) const {
    const std::string_view name = site.substr(site.rfind('.') + 1);
    if (name == "q_norm" || name == "q_rope" || name == "attn") return config_.heads;
    return name == "k_norm" || name == "k_rope" ? config_.kv_heads : 1;
  }

  std::string at(std::string_view name) const { return fmt::format("layers.{:02}.{}", layer_, name); }

  std::string layer(const std::string& input) {
    const std::int64_t hidden = config_.hidden;
    const std::int64_t q = config_.q_width();
    const std::int64_t kv = config_.kv_width();
    add(at("attn_norm"), StepKind::rms_norm, Role::attn_norm, {{input, hidden}});
    add(at("q_proj"), StepKind::linear, Role::q_proj, {{at("attn_norm"), hidden}});
    add(at("k_proj"), StepKind::linear, Role::k_proj, {{at("attn_norm"), hidden}});
    add(at("v_proj"), StepKind::linear, Role::v_proj, {{at("attn_norm"), hidden}});
    add(at("q_norm"), StepKind::rms_norm, Role::q_norm, {{at("q_proj"), q}});
    add(at("k_norm"), StepKind::rms_norm, Role::k_norm, {{at("k_proj"), kv}});
    add(at("q_rope"), StepKind::rope, Role::embed, {{at("q_norm"), q}});
    add(at("k_rope"), StepKind::rope, Role::embed, {{at("k_norm"), kv}});
    add(at("attn"), StepKind::attention, Role::embed, {{at("q_rope"), q}, {at("k_rope"), kv}, {at("v_proj"), kv}});
    add(at("o_proj"), StepKind::linear, Role::o_proj, {{at("attn"), q}});
    add(at("attn_residual"), StepKind::add, Role::embed, {{input, hidden}, {at("o_proj"), hidden}});
    add(at("ffn_norm"), StepKind::rms_norm, Role::ffn_norm, {{at("attn_residual"), hidden}});
    add(at("gate_proj"), StepKind::linear, Role::gate_proj, {{at("ffn_norm"), hidden}});
    add(at("up_proj"), StepKind::linear, Role::up_proj, {{at("ffn_norm"), hidden}});
    add(at("swiglu"), StepKind::swiglu, Role::embed, {{at("gate_proj"), config_.ffn}, {at("up_proj"), config_.ffn}});
    add(at("down_proj"), StepKind::linear, Role::down_proj, {{at("swiglu"), config_.ffn}});
    add(at("ffn_residual"), StepKind::add, Role::embed, {{at("attn_residual"), hidden}, {at("down_proj"), hidden}});
    return at("ffn_residual");
  }

  const ModelConfig& config_;
  std::int64_t layer_ = -1;
  std::vector<SiteWiring> sites_;
};

// Who wrote each column of each slot last.
class PlanReader {
 public:
  explicit PlanReader(const Plan& plan) : plan_(plan) {
    for (const Slot& slot : plan.slots) columns_.emplace_back(static_cast<std::size_t>(slot.width));
  }

  std::vector<SiteWiring> make() {
    for (const Step& step : plan_.steps) read(step);
    return std::move(sites_);
  }

 private:
  struct Origin {
    const std::string* site = nullptr;
    std::int64_t column = 0;
  };
  struct Stored {
    Source k;
    Source v;
    std::int64_t heads = 1;
  };

  bool inside(const Operand& operand) const {
    return operand.column >= 0 && operand.column + operand.columns() <= plan_.slots[static_cast<std::size_t>(operand.slot)].width;
  }

  std::string fault_of(const Step& step) const {
    for (const auto* operands : {&step.inputs, &step.outputs}) {
      for (const Operand& operand : *operands) {
        if (inside(operand)) continue;
        const Slot& slot = plan_.slots[static_cast<std::size_t>(operand.slot)];
        return fmt::format("columns {} .. {} of {}, whose rows have {}", operand.column, operand.column + operand.columns() - 1,
                           slot.name, slot.width);
      }
    }
    return {};
  }

  void read(const Step& step) {
    if (step.kind == StepKind::quantize) {
      // A block of the quantised slot stands for its numbers' site; columns of blocks are followed by their first number.
      quantised_[step.outputs[0].slot] = source_of(step.inputs[0]);
      return;
    }
    if (step.kind == StepKind::rope_table) return;
    if (step.kind == StepKind::kv_store) {
      stored_[step.layer] = {source_of(step.inputs[0]), source_of(step.inputs[1]), step.inputs[0].heads};
      return;
    }
    SiteWiring wiring;
    wiring.site = step.site;
    wiring.kind = step.kind;
    wiring.layer = wiring.weight_layer = step.layer;
    wiring.fault = fault_of(step);
    if (!step.inputs.empty() && step.kind != StepKind::embed) wiring.heads = std::max<std::int64_t>(step.inputs[0].heads, 1);
    if (step.weight >= 0) take_weight(step, wiring);
    if (step.kind != StepKind::embed) {
      const std::size_t tensors = step.kind == StepKind::rope ? 1 : step.inputs.size();  // rope: without its table
      for (std::size_t i = 0; i < tensors; ++i) wiring.inputs.push_back(source_of(step.inputs[i]));
    }
    if (step.kind == StepKind::attention) {
      const Stored& stored = stored_[step.layer];
      wiring.inputs.push_back(stored.k);
      wiring.inputs.push_back(stored.v);
      wiring.kv_heads = stored.heads;
      wiring.window = plan_.options.window;
    }
    sites_.push_back(wiring);
    for (const Operand& output : step.outputs) {
      if (!inside(output)) continue;
      auto& columns = columns_[static_cast<std::size_t>(output.slot)];
      for (std::int64_t c = 0; c < output.columns(); ++c) columns[static_cast<std::size_t>(output.column + c)] = {&step.site, c};
    }
  }

  // The embedding may serve as lm_head.
  void take_weight(const Step& step, SiteWiring& wiring) const {
    const Weight& weight = *plan_.weights[static_cast<std::size_t>(step.weight)].stored;
    const bool tied = plan_.config.tied && weight.role == Role::embed && step.kind == StepKind::linear;
    wiring.role = tied ? Role::lm_head : weight.role;
    wiring.weight_layer = weight.layer;
  }

  Source source_of(const Operand& operand) {
    const auto quantised = quantised_.find(operand.slot);
    if (quantised != quantised_.end()) return quantised->second;
    Source source;
    if (!inside(operand)) return source;
    for (std::int64_t c = operand.column; c < operand.column + operand.columns(); ++c) {
      const Origin& origin = columns_[static_cast<std::size_t>(operand.slot)][static_cast<std::size_t>(c)];
      if (origin.site == nullptr) continue;  // read before anything was written: the width tells
      if (!source.empty() && source.back().site == *origin.site && source.back().column + source.back().count == origin.column) {
        ++source.back().count;
      } else {
        source.push_back({*origin.site, origin.column, 1});
      }
    }
    return source;
  }

  const Plan& plan_;
  std::vector<std::vector<Origin>> columns_;
  std::map<int, Source> quantised_;
  std::map<std::int64_t, Stored> stored_;
  std::vector<SiteWiring> sites_;
};

}  // namespace

std::vector<SiteWiring> definition_wiring(const ModelConfig& config) {
  return Definition(config).make();
}

std::vector<SiteWiring> plan_wiring(const Plan& plan) {
  return PlanReader(plan).make();
}

std::vector<std::string> wiring_differences(const SiteWiring& plan, const SiteWiring& definition) {
  std::vector<std::string> out;
  const auto note = [&](const auto& ours, const auto& theirs, const std::string& text) {
    if (ours != theirs) out.push_back(text);
  };
  note(plan.kind, definition.kind,
       fmt::format("the plan computes {}, the definition {}", step_kind_name(plan.kind), step_kind_name(definition.kind)));
  note(plan.inputs.size(), definition.inputs.size(),
       fmt::format("the plan feeds it {} tensors, the definition {}", plan.inputs.size(), definition.inputs.size()));
  for (std::size_t i = 0; i < std::min(plan.inputs.size(), definition.inputs.size()); ++i) {
    note(plan.inputs[i], definition.inputs[i],
         fmt::format("the plan feeds it {}, the definition {}", source_text(plan.inputs[i]), source_text(definition.inputs[i])));
  }
  note(plan.heads, definition.heads, fmt::format("the plan has {} heads, the definition {}", plan.heads, definition.heads));
  note(plan.kv_heads, definition.kv_heads,
       fmt::format("the plan has {} kv heads, the definition {}", plan.kv_heads, definition.kv_heads));
  const bool weighted = plan.kind == StepKind::linear || plan.kind == StepKind::rms_norm;
  if (weighted && (plan.role != definition.role || plan.weight_layer != definition.weight_layer)) {
    out.push_back(fmt::format("the plan gives it the weight of {}, the definition that of {}",
                              site_of(plan.role, plan.weight_layer), site_of(definition.role, definition.weight_layer)));
  }
  note(plan.window, definition.window, fmt::format("the plan looks back at {} positions, the definition at all", plan.window));
  return out;
}

std::string source_text(const Source& source) {
  std::string text;
  for (const SourcePiece& piece : source) {
    text += text.empty() ? "" : " + ";
    text += source.size() == 1 ? piece.site : fmt::format("{}[{}..{}]", piece.site, piece.column, piece.column + piece.count - 1);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace assay
