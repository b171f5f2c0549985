
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/forensics/model/wiring.h"

namespace assay {
namespace {

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
    const Formula formula = formula_of(step);
    if (formula == Formula::quantize) {
      // A block of the quantised slot stands for its numbers' site; columns of blocks are followed by their first number.
      quantised_[step.outputs[0].slot] = source_of(step.inputs[0]);
    } else if (formula == Formula::kv_store) {
      stored_[step.layer] = {source_of(step.inputs[0]), source_of(step.inputs[1]), step.inputs[0].heads};
    }
    if (is_own(formula)) return;
    SiteWiring wiring;
    wiring.site = step.site;
    wiring.formula = formula;
    wiring.layer = wiring.weight_layer = step.layer;
    wiring.fault = fault_of(step);
    if (!step.inputs.empty()) wiring.heads = std::max<std::int64_t>(step.inputs[0].heads, 1);
    if (step.weight >= 0) take_weight(step, wiring);
    // Tokens are no site's, and rope's table is the engine's own.
    const std::size_t tensors = formula == Formula::embed ? 0 : formula == Formula::rope ? 1 : step.inputs.size();
    for (std::size_t i = 0; i < tensors; ++i) wiring.inputs.push_back(source_of(step.inputs[i]));
    if (formula == Formula::attention) {
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
    const bool tied = plan_.config.tied && weight.role == Role::embed && wiring.formula == Formula::linear;
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

Formula formula_of(const Step& step) {
  return formula_from_name(step_kind_name(step.kind));
}

std::vector<SiteWiring> plan_wiring(const Plan& plan) {
  return PlanReader(plan).make();
}

std::vector<std::string> wiring_differences(const SiteWiring& plan, const SiteWiring& definition) {
  std::vector<std::string> out;
  const auto note = [&](const auto& ours, const auto& theirs, const std::string& text) {
    if (ours != theirs) out.push_back(text);
  };
  note(plan.formula, definition.formula,
       fmt::format("the plan computes {}, the definition {}", formula_name(plan.formula), formula_name(definition.formula)));
  note(plan.inputs.size(), definition.inputs.size(),
       fmt::format("the plan feeds it {} tensors, the definition {}", plan.inputs.size(), definition.inputs.size()));
  for (std::size_t i = 0; i < std::min(plan.inputs.size(), definition.inputs.size()); ++i) {
    note(plan.inputs[i], definition.inputs[i],
         fmt::format("the plan feeds it {}, the definition {}", source_text(plan.inputs[i]), source_text(definition.inputs[i])));
  }
  note(plan.heads, definition.heads, fmt::format("the plan has {} heads, the definition {}", plan.heads, definition.heads));
  note(plan.kv_heads, definition.kv_heads,
       fmt::format("the plan has {} kv heads, the definition {}", plan.kv_heads, definition.kv_heads));
  if (plan.role && definition.role && (plan.role != definition.role || plan.weight_layer != definition.weight_layer)) {
    out.push_back(fmt::format("the plan gives it the weight of {}, the definition that of {}",
                              site_of(*plan.role, plan.weight_layer), site_of(*definition.role, definition.weight_layer)));
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
