// Where the tensors of a call's callers lie, and what lies around them before it.
#include <algorithm>

#include "harness/verdict/call.h"

namespace assay {

const TensorSpec& Call::spec_of(std::size_t memory) const {
  const std::size_t tensors = signature_.tensors.size();
  return signature_of_caller(memory / tensors).tensors[memory % tensors];
}

void Call::have_callers(std::size_t count) {
  while (memory_.size() > first_of(count)) memory_.pop_back();
  while (memory_.size() < first_of(count)) {
    const std::size_t m = memory_.size();
    memory_.emplace_back((m < first_of(1) ? most_bytes_[m] : spec_of(m).extent_bytes()) + room_, page_);
  }
  pointers_.resize(memory_.size());
  writable_.resize(memory_.size());
}

std::vector<Call::Place> Call::places_of(const Placement& placement) const {
  const std::vector<TensorSpec>& specs = signature_.tensors;
  std::vector<Place> places;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    const auto shared = std::ranges::find(placement.shared, t, &Shared::tensor);
    const bool own = shared == placement.shared.end();
    places.push_back(own ? Place{t, t, 0} : Place{shared->behind == 0 ? shared->on : t, shared->on, shared->behind});
  }
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!specs[t].in_place_only) continue;
    const auto on = std::ranges::find(specs, specs[t].aliases.front(), &TensorSpec::name);
    places[t] = places[static_cast<std::size_t>(on - specs.begin())];
  }
  return places;
}

std::size_t Call::extent(const std::vector<Place>& places, const Signature& signature, std::size_t memory) {
  std::size_t end = 0;
  for (std::size_t t = 0; t < places.size(); ++t) {
    if (places[t].memory == memory) end = std::max(end, places[t].behind + signature.tensors[t].extent_bytes());
  }
  return end;
}

std::vector<Laid> Call::laid_in(std::size_t memory) const {
  const std::size_t tensors = signature_.tensors.size();
  const std::size_t caller = memory / tensors;
  std::vector<Laid> laid;
  for (std::size_t t = 0; t < tensors; ++t) {
    if (places_[t].as != t || places_[t].memory != memory % tensors) continue;
    laid.push_back({&signature_of_caller(caller).tensors[t], memory_[memory].writable(pointers_of(caller)[t])});
  }
  return laid;
}

void Call::place(const Placement& placement, const std::vector<Array>& inputs, std::size_t caller) {
  placed_ = placement.name;
  if (caller == 0) poison_ = Poison(placement.poison, split_mix(poison_seed_));
  const Signature& signature = signature_of_caller(caller);
  const std::size_t tensors = signature.tensors.size();
  const std::span<GuardedMemory> memories(memory_.data() + first_of(caller), tensors);
  const std::span<void*> pointers(pointers_.data() + first_of(caller), tensors);
  places_ = places_of(placement);
  for (std::size_t t = 0; t < tensors; ++t) {
    const std::size_t m = places_[t].memory;
    const TensorSpec& first = signature.tensors[m];
    std::uint8_t* base = memories[m].begin() + (placement.offsets.empty() ? 0 : placement.offsets[m]);
    if (placement.at_end) {
      base = memories[m].end() - extent(places_, signature, m);
      if (first.role == Direction::in) base -= over_read_;
      base -=
          reinterpret_cast<std::uintptr_t>(base) % first.alignment + static_cast<std::size_t>(placement.before) * first.alignment;
    }
    pointers[t] = base + places_[t].behind;
  }
  const bool keeps_outputs = placement.before != Before::nothing && &inputs == &inputs_;
  for (std::size_t m = 0; m < tensors; ++m) {
    std::vector<Laid> data = laid_in(first_of(caller) + m);
    std::erase_if(data, [&](const Laid& one) { return one.spec->role == Direction::out && !keeps_outputs; });
    for_each_gap(data, memories[m], [&](std::uint8_t* begin, const std::uint8_t* end) {
      poison_.fill(poison_origin(pointers[m], m), begin, end);
      return true;
    });
  }
  for (std::size_t m = 0; m < tensors; ++m) writable_[first_of(caller) + m] = false;
  for (std::size_t t = 0; t < tensors; ++t) {
    if (t < inputs.size() && places_[t].as == t) scatter(signature.tensors[t], inputs[t], pointers[t]);
    if (t >= inputs.size()) writable_[first_of(caller) + places_[t].memory] = true;
  }
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    const std::size_t m = places_[t].memory;
    if (!writable(first_of(caller) + m)) pointers[t] = memories[m].read_only(memories[m].writable(pointers[t]));
  }
}

}  // namespace assay
