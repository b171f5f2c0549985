#include "engine/plan/plan.h"

#include <algorithm>

#include "engine/plan/placement.h"

namespace assay {
namespace {

std::string site_at(const Plan& plan, std::int64_t step) {
  return step < std::ssize(plan.steps) ? plan.steps[static_cast<std::size_t>(step)].site : "the end";
}

std::string layout_name(const PlannedWeight& weight) {
  if (weight.in_file) return std::string(dtype_name(weight.stored->dtype));
  return weight.layout == nullptr ? "f32" : weight.layout->name();
}

PlacedBuffer weight_buffer(const Plan& plan, std::size_t index) {
  const PlannedWeight& weight = plan.weights[index];
  PlacedBuffer buffer{
      weight.stored->site, layout_name(weight), {weight.stored->rows, weight.stored->cols}, weight.offset, weight.bytes, "", ""};
  if (is_norm(weight.stored->role)) buffer.shape = {weight.stored->cols};
  const auto used = std::ranges::find(plan.steps, static_cast<int>(index), &Step::weight);
  buffer.first = buffer.last = used->site;
  buffer.name = used->site;  // a tied head is packed for lm_head
  return buffer;
}

Region slots_region(const Plan& plan, std::string name, const SlotLayout& layout) {
  Region region{std::move(name), layout.bytes, {}};
  const auto lives = slot_lifetimes(plan);
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    region.buffers.push_back({slot.name,
                              std::string(dtype_name(slot.dtype)),
                              {slot.of_logits ? layout.logit_rows : layout.rows, slot.width},
                              layout.offsets[i],
                              slot_bytes(slot, layout),
                              site_at(plan, lives[i].front().first),
                              site_at(plan, lives[i].front().last)});
  }
  std::ranges::stable_sort(region.buffers, {}, &PlacedBuffer::offset);
  return region;
}

Region kv_region(const Plan& plan) {
  const KvPlan kv = plan_kv_cache(plan.options.kv_policy, plan.kv, plan.options.context);
  const KvShape& shape = plan.kv.shape;
  return {"kv",
          kv.bytes,
          {{plan.options.kv_policy,
            std::string(dtype_name(plan.options.kv_type)),
            {shape.layers, 2, shape.n_kv, plan.options.context, shape.head_dim_padded},
            0,
            kv.bytes,
            site_at(plan, 0),
            "the end"}}};
}

}  // namespace

std::string_view step_kind_name(StepKind kind) noexcept {
  constexpr std::string_view kNames[] = {"rope_table", "embed",    "rms_norm",  "quantize", "linear",
                                         "rope",       "kv_store", "attention", "add",      "swiglu"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<std::size_t> Plan::find(std::string_view site) const {
  const auto found = std::ranges::find(steps, site, &Step::site);
  if (found == steps.end()) return std::nullopt;
  return static_cast<std::size_t>(found - steps.begin());
}

std::vector<Region> Plan::regions() const {
  Region resident{"weights", weight_bytes, {}};
  Region file{"file", 0, {}};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Region& region = weights[i].in_file ? file : resident;
    region.buffers.push_back(weight_buffer(*this, i));
    if (weights[i].in_file) {
      region.buffers.back().offset = static_cast<std::int64_t>(weights[i].stored->offset);
      region.bytes += weights[i].bytes;
    }
  }
  return {resident, kv_region(*this), slots_region(*this, "decode", decode), slots_region(*this, "prefill", prefill), file};
}

}  // namespace assay
