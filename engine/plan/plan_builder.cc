#include "engine/plan/plan_builder.h"

#include <algorithm>

#include "engine/files/file_error.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

const Op& op_of(const OpTable& table) {
  return the_op(table.op);
}

}  // namespace

Operand whole(int slot, std::int64_t width) {
  return {slot, 0, 0, width};
}

std::string site_in_layer(std::int64_t layer, std::string_view name) {
  const std::string norm = site_of(Role::attn_norm, layer);  // "layers.07.attn_norm"
  return norm.substr(0, norm.rfind('.') + 1) + std::string(name);
}

int PlanBuilder::slot(std::string name, DType dtype, std::int64_t width) {
  plan_.slots.push_back({std::move(name), dtype, width});
  return static_cast<int>(plan_.slots.size()) - 1;
}

int PlanBuilder::slot_of_logits(std::string name, std::int64_t width) {
  const int made = slot(std::move(name), DType::f32, width);
  plan_.slots.back().of_logits = true;
  return made;
}

int PlanBuilder::last_rows_of(int slot) {
  const Slot& all = plan_.slots[static_cast<std::size_t>(slot)];
  return slot_of_logits("last_" + all.name, all.width);
}

void PlanBuilder::make_input_slots() {
  plan_.tokens_slot = slot("tokens", DType::i32, 1);
  plan_.positions_slot = slot("positions", DType::i32, 1);
}

int PlanBuilder::make_logits_slot() {
  return plan_.logits_slot = slot_of_logits("logits", config().vocab);
}

Step& PlanBuilder::step(std::string site, StepKind kind, std::int64_t layer, std::vector<Operand> inputs,
                        std::vector<Operand> outputs, const Op& op, int weight) {
  const bool of_logits = !outputs.empty() && plan_.slots[static_cast<std::size_t>(outputs[0].slot)].of_logits;
  plan_.steps.push_back({std::move(site), kind, layer, std::move(inputs), std::move(outputs), weight, of_logits, &op, &op});
  return plan_.steps.back();
}

// Each is asked for once.
int PlanBuilder::take_weight(const Weight& weight, bool in_file) {
  PlannedWeight planned{&weight, nullptr, in_file, 0, 0};
  if (in_file) {
    planned.bytes = static_cast<std::int64_t>(weight.bytes.size());
  } else if (is_norm(weight.role)) {
    planned.bytes = weight.cols * static_cast<std::int64_t>(sizeof(float));
  } else {
    planned.layout = find_weight_layout(weight.dtype);
    if (planned.layout == nullptr) {
      throw ModelFileError(
          Fault::tensor_type, {weight.file, weight.offset, "tensor " + shown(weight.name)},
          "no kernel multiplies with " + std::string(dtype_name(weight.dtype)) + "; there are kernels for " + multiplied_types());
    }
    planned.bytes = planned.layout->bytes(weight.rows, weight.cols);
  }
  plan_.weights.push_back(planned);
  return static_cast<int>(plan_.weights.size()) - 1;
}

const Weight& PlanBuilder::matrix(Role role, std::int64_t layer) const {
  return role == Role::lm_head ? weights_.lm_head() : weights_.at(role, layer);
}

DType PlanBuilder::activations_of(Role role, std::int64_t layer) const {
  const WeightLayout* const layout = find_weight_layout(matrix(role, layer).dtype);
  return layout == nullptr ? DType::f32 : layout->activations;  // take_weight refuses it
}

int PlanBuilder::quantised_slot(int source, DType dtype) {
  const Slot of = plan_.slots[static_cast<std::size_t>(source)];
  const std::string name = of.name + "." + std::string(dtype_name(dtype));
  const auto found = std::ranges::find(plan_.slots, name, &Slot::name);
  if (found != plan_.slots.end()) return static_cast<int>(found - plan_.slots.begin());
  const int made = slot(name, dtype, of.width / dtype_numbers(dtype));
  plan_.slots.back().of_logits = of.of_logits;
  return made;
}

PlanBuilder::Activations::Activations(PlanBuilder& builder, const std::string& from, std::int64_t layer, const Operand& source,
                                      const std::vector<Role>& readers)
    : source_(source) {
  std::vector<DType> types;
  for (const Role role : readers) types.push_back(builder.activations_of(role, layer));
  std::ranges::sort(types);
  types.erase(std::ranges::unique(types).begin(), types.end());
  std::erase(types, DType::f32);
  for (const DType type : types) {
    const Operand to = whole(builder.quantised_slot(source.slot, type), source.width / dtype_numbers(type));
    // Readers in two formats: the site's name says which.
    const std::string site = from + ".quant" + (types.size() == 1 ? "" : "_" + std::string(dtype_name(type)));
    builder.step(site, StepKind::quantize, layer, {source}, {to}, codec_op(CodecForm::quantize, type));
    quantised_.push_back({type, to});
  }
}

Operand PlanBuilder::Activations::as(DType type) const {
  const auto found = std::ranges::find(quantised_, type, &Quantised::type);
  return found == quantised_.end() ? source_ : found->operand;
}

void PlanBuilder::rope_table(const Operand& to) {
  step("rope_table", StepKind::rope_table, -1, {whole(plan_.positions_slot, 1)}, {to}, op_of(kernel_tables::rope_table));
}

void PlanBuilder::embed(const Operand& to) {
  const Weight& table = weights_.at(Role::embed);
  step(table.site, StepKind::embed, -1, {whole(plan_.tokens_slot, 1)}, {to},
       is_block(table.dtype) ? codec_op(CodecForm::decode, table.dtype) : embed_op(table.dtype), take_weight(table, true));
}

void PlanBuilder::norm(Role role, std::int64_t layer, const Operand& from, const Operand& to) {
  const Weight& weight = weights_.at(role, layer);
  step(weight.site, StepKind::rms_norm, layer, {from}, {to}, op_of(kernel_tables::rms_norm), take_weight(weight));
}

void PlanBuilder::linear(Role role, std::int64_t layer, const Activations& from, const Operand& to) {
  const int weight = take_weight(matrix(role, layer));
  const WeightLayout& layout = *plan_.weights[static_cast<std::size_t>(weight)].layout;
  step(site_of(role, layer), StepKind::linear, layer, {from.as(layout.activations)}, {to}, *layout.gemv, weight).prefill =
      layout.gemm;
}

void PlanBuilder::rope(const std::string& site, std::int64_t layer, const Operand& heads, const Operand& angles) {
  step(site, StepKind::rope, layer, {heads, angles}, {heads}, op_of(kernel_tables::rope));
}

void PlanBuilder::kv_store(std::int64_t layer, const Operand& k, const Operand& v) {
  step(site_in_layer(layer, "kv_store"), StepKind::kv_store, layer, {k, v}, {}, kv_op(KvForm::store, options().kv_type));
}

void PlanBuilder::attention(std::int64_t layer, const Operand& q, const Operand& to) {
  const DType cache = options().kv_type;
  step(site_in_layer(layer, "attn"), StepKind::attention, layer, {q}, {to}, attention_op(AttentionForm::decode, cache)).prefill =
      &attention_op(AttentionForm::prefill, cache);
}

void PlanBuilder::add(const std::string& site, std::int64_t layer, const Operand& a, const Operand& b, const Operand& to) {
  step(site, StepKind::add, layer, {a, b}, {to}, op_of(kernel_tables::add));
}

void PlanBuilder::swiglu(std::int64_t layer, const Operand& gate, const Operand& up) {
  step(site_in_layer(layer, "swiglu"), StepKind::swiglu, layer, {gate, up}, {gate}, op_of(kernel_tables::swiglu));
}

}  // namespace assay
