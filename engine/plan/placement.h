// Where slots lie in memory: those that are never in use together may share it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/plan.h"

namespace assay {

// Steps first .. last, both included, between which a slot's rows are in use: from the step that writes them anew to the last that
// reads them.
struct Lifetime {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// By slot, ascending. tokens and positions are there before the first step, logits after the last.
std::vector<std::vector<Lifetime>> slot_lifetimes(const Plan& plan);

// Offsets of all slots in one arena, and the steps that need a barrier before them.
SlotLayout place_slots(const Plan& plan, std::int64_t rows, std::int64_t logit_rows);

// Offsets of the weights in their region, those that stay in the file left out, and the region's size.
void place_weights(Plan& plan);

// Bytes of a slot's rows in a layout.
std::int64_t slot_bytes(const Slot& slot, const SlotLayout& layout);

}  // namespace assay
