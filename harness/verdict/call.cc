#include "harness/verdict/call.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "harness/interop/plugin/properties.h"
#include "harness/verdict/draw.h"

namespace assay {
namespace {

// Says where `address` lies as seen from the tensor in [base, base + bytes).
std::string position(const TensorSpec& spec, const std::uint8_t* base, const std::uint8_t* address) {
  const auto bytes = static_cast<std::ptrdiff_t>(spec.extent_bytes());
  if (address < base) return fmt::format("{} bytes before the start of {}", base - address, spec.name);
  if (address >= base + bytes) return fmt::format("{} bytes past the end of {}", address - (base + bytes) + 1, spec.name);
  return fmt::format("byte {} of {}, in the gap between its rows", address - base, spec.name);
}

// The canaries: what is no element of the tensor must still be poison.
std::string check_canaries(const TensorSpec& spec, const GuardedMemory& memory, std::uint8_t* base, const Poison& poison) {
  std::string violation;
  for_each_gap(spec, memory, base, [&](const std::uint8_t* begin, const std::uint8_t* end) {
    const auto* touched = poison.find_touched(base, begin, end);
    if (touched != nullptr) violation = "wrote " + position(spec, base, touched);
    return touched == nullptr;
  });
  return violation;
}

void check_input(const Op& op, const TensorSpec& spec, const Array& array) {
  if (array.dtype == spec.dtype && array.shape == spec.shape) return;
  throw std::invalid_argument(fmt::format("{}: input '{}' is {} [{}]; expected {} [{}]", op.name, spec.name,
                                          dtype_name(array.dtype), fmt::join(array.shape, ", "), dtype_name(spec.dtype),
                                          fmt::join(spec.shape, ", ")));
}

}  // namespace

Call::Call(const Op& op, Params params, std::vector<Array> inputs, std::size_t page, std::uint64_t seed)
    : op_(op),
      params_(std::move(params)),
      signature_(signature_of(op, params_)),
      inputs_(std::move(inputs)),
      page_(page),
      work_(work_of(op, params_)),
      poison_seed_(seed),
      poison_(Poison::Kind::noise, seed) {
  check_inputs();
  placements_ = placements_of(signature_, inputs_, work_, seed);
  have_callers(1);
}

void Call::check_inputs() const {
  std::size_t next = 0;
  for (const TensorSpec& spec : signature_.tensors) {
    if (spec.role == Direction::in) {
      if (next == inputs_.size()) throw std::invalid_argument(fmt::format("{}: input '{}' is missing", op_.name, spec.name));
      check_input(op_, spec, inputs_[next++]);
    }
  }
}

void Call::set_inputs(std::vector<Array> inputs) {
  inputs_ = std::move(inputs);
  check_inputs();
  // Inputs that were the same need not be so now.
  std::erase_if(placements_, [&](const Placement& one) {
    return std::ranges::any_of(one.shared,
                               [&](const Shared& pair) { return signature_.tensors[pair.tensor].role == Direction::in; });
  });
}

void Call::have_callers(std::size_t count) {
  while (memory_.size() > first_of(count)) memory_.pop_back();
  while (memory_.size() < first_of(count)) memory_.emplace_back(spec_of(memory_.size()).extent_bytes() + room_, page_);
  pointers_.resize(memory_.size());
  lies_on_.resize(signature_.tensors.size());
}

void Call::allow_over_read(std::size_t bytes) {
  over_read_ = bytes;
  if (kOffsets + bytes <= room_) return;
  room_ = kOffsets + bytes;
  have_callers(0);
  have_callers(1);
}

std::size_t Call::bytes() const {
  std::size_t total = 0;
  for (const TensorSpec& spec : signature_.tensors) total += spec.extent_bytes();
  return total;
}

void Call::place(const Placement& placement, const std::vector<Array>& inputs, std::size_t caller) {
  placed_ = placement.name;
  if (caller == 0) poison_ = Poison(placement.poison, split_mix(poison_seed_));
  std::size_t next_input = 0;
  const std::size_t tensors = signature_.tensors.size();
  const std::span<GuardedMemory> memories(memory_.data() + first_of(caller), tensors);
  const std::span<void*> pointers(pointers_.data() + first_of(caller), tensors);
  for (std::size_t t = 0; t < tensors; ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    const GuardedMemory& memory = memories[t];
    std::uint8_t* base = memory.begin() + (placement.offsets.empty() ? 0 : placement.offsets[t]);
    if (placement.at_end) {
      base = memory.end() - spec.extent_bytes();
      if (spec.role == Direction::in) base -= over_read_;
      base -= reinterpret_cast<std::uintptr_t>(base) % spec.alignment + (placement.after_other ? spec.alignment : 0);
    }
    pointers[t] = base;
    const auto poison = [&](std::uint8_t* begin, const std::uint8_t* end) {
      poison_.fill(base, begin, end);
      return true;
    };
    if (spec.role == Direction::out) {
      poison(memory.begin(), memory.end());
    } else {
      for_each_gap(spec, memory, base, poison);
      scatter(spec, inputs[next_input++], base);
    }
  }
  std::vector<bool> written(tensors, false);
  for (std::size_t t = 0; t < tensors; ++t) {
    const std::size_t on = place_of(t, placement);
    if (caller == 0) lies_on_[t] = on;
    if (on != t && signature_.tensors[t].role == Direction::out) written[on] = true;
    pointers[t] = pointers[on];
  }
  for (std::size_t t = 0; t < tensors; ++t) {
    const std::size_t on = place_of(t, placement);
    if (signature_.tensors[t].role == Direction::in && !written[on])
      pointers[t] = memories[on].read_only(memories[on].writable(pointers[t]));
  }
}

// The tensor whose memory it lies in: its own, or an input's.
std::size_t Call::place_of(std::size_t tensor, const Placement& placement) const {
  const auto shared = std::ranges::find(placement.shared, tensor, &Shared::tensor);
  if (shared != placement.shared.end()) return shared->on;
  const TensorSpec& spec = signature_.tensors[tensor];
  if (!spec.in_place_only) return tensor;
  const auto on = std::ranges::find(signature_.tensors, spec.aliases.front(), &TensorSpec::name);
  return static_cast<std::size_t>(on - signature_.tensors.begin());
}

std::string Call::describe(const MemoryFault& fault) const {
  if (fault.signal == SIGILL) return "executed an instruction that this CPU lacks (SIGILL)";
  if (fault.signal == SIGFPE) return "raised SIGFPE";
  if (fault.signal == SIGABRT) return "aborted (SIGABRT)";
  if (fault.signal == SIGTRAP) return "trapped (SIGTRAP)";
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const GuardedMemory& memory = memory_[t];
    if (!memory.owns(fault.address)) continue;
    const TensorSpec& spec = spec_of(t);
    const std::uint8_t* const address = memory.writable(fault.address);
    const std::uint8_t* const base = memory.writable(pointers_[t]);
    if (address < memory.begin() || address >= memory.end()) {
      const std::string declared = over_read_ > 0 ? fmt::format("; {}={} is declared", kOverRead, over_read_) : "";
      return "touched " + position(spec, base, address) + " (guard page" + declared + ")";
    }
    const auto offset = address - base;
    if (offset < 0 || offset >= static_cast<std::ptrdiff_t>(spec.extent_bytes())) return "wrote " + position(spec, base, address);
    return fmt::format("changed its input {}: byte {}, which can only be read", spec.name, offset);
  }
  return fmt::format("touched address {}, far from every tensor (signal {})", fault.address, fault.signal);
}

// True if every output holds the poison, or the input that it lies on.
bool Call::untouched() const {
  std::size_t next_input = 0;
  std::vector<const Array*> originals(signature_.tensors.size(), nullptr);
  for (std::size_t t = 0; t < signature_.tensors.size(); ++t) {
    if (signature_.tensors[t].role == Direction::in) originals[t] = &inputs_[next_input++];
  }
  for (std::size_t t = 0; t < signature_.tensors.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    if (spec.role == Direction::in) continue;
    if (lies_on_[t] != t) {
      if (!holds(spec, pointers_[t], *originals[lies_on_[t]])) return false;
      continue;
    }
    if (poison_.find_touched(pointers_[t], memory_[t].begin(), memory_[t].end()) != nullptr) return false;
  }
  return true;
}

std::string Call::check_surroundings() const {
  std::size_t next_input = 0;
  for (std::size_t t = 0; t < signature_.tensors.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    const Array* original = spec.role == Direction::in ? &inputs_[next_input++] : nullptr;
    if (lies_on_[t] != t) continue;  // examined there
    std::string violation = check_canaries(spec, memory_[t], memory_[t].writable(pointers_[t]), poison_);
    if (!violation.empty()) return violation;
    if (original != nullptr && !writable(t) && !holds(spec, pointers_[t], *original)) {
      return "changed its input " + spec.name;
    }
  }
  return {};
}

std::vector<Array> Call::outputs_of(std::size_t caller) const {
  std::vector<Array> outputs;
  for (std::size_t t = 0; t < signature_.tensors.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    if (spec.role == Direction::out) outputs.push_back(gather(spec, pointers_of(caller)[t]));
  }
  return outputs;
}

Outcome Call::examine(const Execution& execution) {
  Outcome outcome;
  outcome.status = execution.status;
  outcome.crashed = execution.fault || !execution.failure.empty();
  outcome.violation = execution.fault ? describe(*execution.fault) : outcome.crashed ? execution.failure : check_surroundings();
  if (!outcome.violation.empty() && execution.placed) outcome.violation += ", placed " + placed_;
  outcome.odd_call = execution.odd_call;
  outcome.untouched = outcome.status != ASSAY_OK && untouched();
  outcome.outputs = outputs_of(0);
  return outcome;
}

Outcome Call::run(Executor& executor, const Placement& placement, const Manner& manner) {
  place(placement);
  const CallPart whole{params_, pointers_};
  return examine(executor.run(*this, {&whole, 1}, manner));
}

std::vector<Array> Call::moved_on(std::vector<Array> inputs) const {
  auto input = inputs.begin();
  for (const TensorSpec& spec : signature_.tensors) {
    if (spec.role == Direction::out) continue;
    auto& bytes = (input++)->bytes;
    const std::size_t element = dtype_size(spec.dtype);
    if (bytes.size() <= element) continue;
    const auto second = static_cast<std::ptrdiff_t>(element);
    bytes.insert(bytes.end(), bytes.begin(), bytes.begin() + second);
    bytes.erase(bytes.begin(), bytes.begin() + second);
  }
  return inputs;
}

std::string Call::run_other_data(Executor& executor, const Placement& placement) {
  place(placement, moved_on(inputs_));
  const CallPart whole{params_, pointers_};
  const Execution execution = executor.run(*this, {&whole, 1}, {});
  if (!execution.fault && execution.failure.empty()) return {};
  return (execution.fault ? describe(*execution.fault) : execution.failure) + ", with other data, placed " + placed_;
}

std::int64_t most_parts(const Split& split, const Params& params) {
  return reference::ceil_div(params.integer(split.param), split.unit);
}

// Neighbouring ranges of the split's param, at multiples of its unit; uneven ones as 1 : 2 : 3 and so on, none of them empty.
std::vector<CallPart> Call::cut(const Split& split, int parts, bool uneven) const {
  const std::int64_t count = params_.integer(split.param);
  const std::int64_t units = most_parts(split, params_);
  const std::int64_t most = std::clamp<std::int64_t>(parts, 1, std::max<std::int64_t>(units, 1));
  const auto until = [&](std::int64_t p) { return uneven ? units * (p * (p + 1)) / (most * (most + 1)) : units * p / most; };
  std::vector<CallPart> all;
  for (std::int64_t p = 0; p < most; ++p) {
    const std::int64_t begin = until(p) * split.unit;
    const std::int64_t end = std::min(count, until(p + 1) * split.unit);
    if (begin < end || count == 0) all.push_back(part_of(signature_, {params_, pointers_}, split, begin, end));
  }
  return all;
}

Outcome Call::run_parts(Executor& executor, const Split& split, int parts, const Manner& manner, bool uneven) {
  const std::string how = fmt::format("{} {} {}", manner.at_once ? "among" : "in", parts, manner.at_once ? "threads" : "parts");
  place({fmt::format("cut by {} {}", split.param, how), false, {}, Poison::Kind::nans});
  return examine(executor.run(*this, cut(split, parts, uneven), manner));
}

std::vector<Outcome> Call::run_rivals(Executor& executor, int callers, const Manner& manner) {
  const Placement front{fmt::format("of {} callers", callers), false, {}, Poison::Kind::nans};
  const auto count = static_cast<std::size_t>(callers);
  have_callers(count);
  std::vector<Array> inputs = inputs_;
  std::vector<CallPart> calls;
  for (std::size_t caller = 0; caller < count; ++caller, inputs = moved_on(std::move(inputs))) {
    place(front, inputs, caller);
    const auto pointers = pointers_of(caller);
    calls.push_back({params_, {pointers.begin(), pointers.end()}});
  }
  const Execution execution = executor.run(*this, calls, manner);
  std::vector<Outcome> outcomes{examine(execution)};
  for (std::size_t caller = 1; caller < count; ++caller) {
    Outcome& outcome = outcomes.emplace_back();
    outcome.status = execution.status;
    outcome.outputs = outputs_of(caller);
  }
  have_callers(1);
  return outcomes;
}

}  // namespace assay
