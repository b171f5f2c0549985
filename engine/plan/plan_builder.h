// The steps that the plans of all architectures are made of. Which of them follow one another is an architecture's
// (engine/architecture/).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/plan.h"

namespace assay {

// All columns of a slot of that width.
Operand whole(int slot, std::int64_t width);
// "layers.07.attn".
std::string site_in_layer(std::int64_t layer, std::string_view name);

class PlanBuilder {
 public:
  PlanBuilder(Plan& plan, const WeightMap& weights) : plan_(plan), weights_(weights) {}

  const ModelConfig& config() const { return plan_.config; }
  const PlanOptions& options() const { return plan_.options; }

  int slot(std::string name, DType dtype, std::int64_t width);
  int slot_of_logits(std::string name, std::int64_t width);
  // What follows works on the tokens whose logits are asked for: a slot of their rows in the place of `slot`.
  int last_rows_of(int slot);
  // Slots of the plan itself; tokens and positions are there before the first step.
  void make_input_slots();
  int make_logits_slot();

  // Values of one site as its readers, projections of that layer, take them: as they are, or quantised by a step made here.
  class Activations {
   public:
    Activations(PlanBuilder& builder, const std::string& from, std::int64_t layer, const Operand& source,
                const std::vector<Role>& readers);
    Operand as(DType type) const;

   private:
    struct Quantised {
      DType type;
      Operand operand;
    };
    Operand source_;
    std::vector<Quantised> quantised_;
  };

  // Steps. Each has the rows of what it writes.
  void rope_table(const Operand& to);
  void embed(const Operand& to);
  void norm(Role role, std::int64_t layer, const Operand& from, const Operand& to);
  void linear(Role role, std::int64_t layer, const Activations& from, const Operand& to);
  void rope(const std::string& site, std::int64_t layer, const Operand& heads, const Operand& angles);  // in place
  void kv_store(std::int64_t layer, const Operand& k, const Operand& v);
  void attention(std::int64_t layer, const Operand& q, const Operand& to);
  void add(const std::string& site, std::int64_t layer, const Operand& a, const Operand& b, const Operand& to);
  void swiglu(std::int64_t layer, const Operand& gate, const Operand& up);  // in gate's place

 private:
  Step& step(std::string site, StepKind kind, std::int64_t layer, std::vector<Operand> inputs, std::vector<Operand> outputs,
             const Op& op, int weight = -1);
  int take_weight(const Weight& weight, bool in_file = false);
  const Weight& matrix(Role role, std::int64_t layer) const;
  DType activations_of(Role role, std::int64_t layer) const;
  int quantised_slot(int source, DType dtype);

  Plan& plan_;
  const WeightMap& weights_;
};

}  // namespace assay
