#include "engine/plan/placement.h"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

constexpr std::int64_t kAlignment = 64;  // a cache line, the widest load

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

bool in_use_together(const std::vector<Lifetime>& a, const std::vector<Lifetime>& b) {
  return std::ranges::any_of(
      a, [&](const Lifetime& one) { return std::ranges::any_of(b, [&](const Lifetime& other) { return overlap(one, other); }); });
}

bool uses(const std::vector<Operand>& operands, int slot) {
  return std::ranges::any_of(operands, [slot](const Operand& one) { return one.slot == slot; });
}

// A slot's life begins anew at a write after others have read it; an op in place reads what it writes.
std::vector<Lifetime> lifetimes_of(const Plan& plan, int slot) {
  std::vector<Lifetime> lives;
  if (slot == plan.tokens_slot || slot == plan.positions_slot) lives.push_back({0, 0});
  bool was_read = false;
  for (std::int64_t i = 0; i < std::ssize(plan.steps); ++i) {
    const Step& step = plan.steps[static_cast<std::size_t>(i)];
    const bool reads = uses(step.inputs, slot);
    const bool writes = uses(step.outputs, slot);
    if (!reads && !writes) continue;
    if (lives.empty() || (writes && !reads && was_read)) {
      lives.push_back({i, i});
      was_read = false;
    }
    lives.back().last = i;
    was_read = was_read || reads;
  }
  if (slot == plan.logits_slot) lives.back().last = std::ssize(plan.steps);
  return lives;
}

// A part of the arena that a step reads or writes, in columns of its slot.
struct Access {
  const Operand* operand;
  bool write;
};

class BarrierFinder {
 public:
  BarrierFinder(const Plan& plan, const SlotLayout& layout) : plan_(plan), layout_(layout) {}

  // A step must wait where it touches what a step since the last barrier wrote, or writes what one touched.
  std::vector<std::uint8_t> find() {
    std::vector<std::uint8_t> barriers;
    for (const Step& step : plan_.steps) {
      std::vector<Access> own;
      for (const Operand& input : step.inputs) own.push_back({&input, false});
      for (const Operand& output : step.outputs) own.push_back({&output, true});
      // The cache is no slot: attention reads what kv_store wrote, and the next store follows attention.
      const bool after_store = step.kind == StepKind::attention;
      const bool wait = after_store || std::ranges::any_of(own, [this](const Access& access) { return conflicts(access); });
      barriers.push_back(wait ? 1 : 0);
      if (wait) since_.clear();
      since_.insert(since_.end(), own.begin(), own.end());
    }
    return barriers;
  }

 private:
  bool conflicts(const Access& access) const {
    return std::ranges::any_of(
        since_, [&](const Access& other) { return (access.write || other.write) && touch(*access.operand, *other.operand); });
  }

  bool touch(const Operand& a, const Operand& b) const {
    if (a.slot == b.slot) return a.column < b.column + b.columns() && b.column < a.column + a.columns();
    const auto at = [&](int slot) { return layout_.offsets[static_cast<std::size_t>(slot)]; };
    const auto end = [&](int slot) { return at(slot) + slot_bytes(plan_.slots[static_cast<std::size_t>(slot)], layout_); };
    return at(a.slot) < end(b.slot) && at(b.slot) < end(a.slot);
  }

  const Plan& plan_;
  const SlotLayout& layout_;
  std::vector<Access> since_;
};

}  // namespace

std::int64_t slot_bytes(const Slot& slot, const SlotLayout& layout) {
  const std::int64_t rows = slot.of_logits ? layout.logit_rows : layout.rows;
  return rows * slot.width * static_cast<std::int64_t>(dtype_size(slot.dtype));
}

std::vector<std::vector<Lifetime>> slot_lifetimes(const Plan& plan) {
  std::vector<std::vector<Lifetime>> lives;
  for (int slot = 0; slot < static_cast<int>(plan.slots.size()); ++slot) lives.push_back(lifetimes_of(plan, slot));
  return lives;
}

void place_weights(Plan& plan) {
  plan.weight_bytes = 0;
  for (PlannedWeight& weight : plan.weights) {
    if (weight.in_file) continue;
    weight.offset = plan.weight_bytes;
    plan.weight_bytes = round_up(weight.offset + weight.bytes, kAlignment);
  }
}

// First fit, the largest first.
SlotLayout place_slots(const Plan& plan, std::int64_t rows, std::int64_t logit_rows) {
  SlotLayout layout{rows, logit_rows, 0, std::vector<std::int64_t>(plan.slots.size()), {}};
  const auto lives = slot_lifetimes(plan);
  const auto bytes_of = [&](std::size_t slot) { return round_up(slot_bytes(plan.slots[slot], layout), kAlignment); };
  std::vector<std::size_t> order(plan.slots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), bytes_of);
  std::vector<std::size_t> placed;
  for (const std::size_t slot : order) {
    std::vector<std::size_t> rivals;
    std::ranges::copy_if(placed, std::back_inserter(rivals),
                         [&](std::size_t other) { return in_use_together(lives[slot], lives[other]); });
    std::ranges::sort(rivals, {}, [&](std::size_t other) { return layout.offsets[other]; });
    std::int64_t offset = 0;
    for (const std::size_t other : rivals) {
      if (offset + bytes_of(slot) <= layout.offsets[other]) break;
      offset = std::max(offset, layout.offsets[other] + bytes_of(other));
    }
    layout.offsets[slot] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes_of(slot));
    placed.push_back(slot);
  }
  layout.barriers = BarrierFinder(plan, layout).find();
  return layout;
}

}  // namespace assay
