#include "harness/verdict/call.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "harness/interop/plugin/properties.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/earlier_data.h"

namespace assay {
namespace {

// Says where `address` lies as seen from a tensor.
std::string position(const Laid& tensor, const std::uint8_t* address) {
  const auto [spec, base] = tensor;
  const auto bytes = static_cast<std::ptrdiff_t>(spec->extent_bytes());
  if (address < base) return fmt::format("{} bytes before the start of {}", base - address, spec->name);
  if (address >= base + bytes) return fmt::format("{} bytes past the end of {}", address - (base + bytes) + 1, spec->name);
  return fmt::format("byte {} of {}, in the gap between its rows", address - base, spec->name);
}

// Of what lies in one memory: what begins last before the address, else what begins first.
const Laid& begins_nearest(const std::vector<Laid>& laid, const std::uint8_t* address) {
  const Laid* found = &*std::ranges::min_element(laid, {}, &Laid::base);
  for (const Laid& one : laid) {
    if (one.base <= address && one.base > found->base) found = &one;
  }
  return *found;
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
  for (std::size_t t = 0; t < signature_.tensors.size(); ++t) {
    std::size_t& most = most_bytes_.emplace_back(0);
    for (const Placement& one : placements_) most = std::max(most, extent(places_of(one), signature_, t));
  }
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
  std::erase_if(placements_, [](const Placement& one) { return one.alike; });
}

void Call::allow_over_read(std::size_t bytes) {
  over_read_ = bytes;
  if (kRoom + bytes <= room_) return;
  room_ = kRoom + bytes;
  have_callers(0);
  have_callers(1);
}

std::size_t Call::bytes() const {
  std::size_t total = 0;
  for (const TensorSpec& spec : signature_.tensors) total += spec.extent_bytes();
  return total;
}

std::string Call::describe(const MemoryFault& fault) const {
  if (fault.signal == SIGILL) return "executed an instruction that this CPU lacks (SIGILL)";
  if (fault.signal == SIGFPE) return "raised SIGFPE";
  if (fault.signal == SIGABRT) return "aborted (SIGABRT)";
  if (fault.signal == SIGTRAP) return "trapped (SIGTRAP)";
  for (std::size_t m = 0; m < memory_.size(); ++m) {
    const GuardedMemory& memory = memory_[m];
    const std::vector<Laid> laid = laid_in(m);
    if (!memory.owns(fault.address) || laid.empty()) continue;
    const std::uint8_t* const address = memory.writable(fault.address);
    const Laid& tensor = begins_nearest(laid, address);
    if (address < memory.begin() || address >= memory.end()) {
      const std::string declared = over_read_ > 0 ? fmt::format("; {}={} is declared", kOverRead, over_read_) : "";
      return "touched " + position(tensor, address) + " (guard page" + declared + ")";
    }
    const auto offset = address - tensor.base;
    if (offset < 0 || offset >= static_cast<std::ptrdiff_t>(tensor.spec->extent_bytes()))
      return "wrote " + position(tensor, address);
    return fmt::format("changed its input {}: byte {}, which can only be read", tensor.spec->name, offset);
  }
  return fmt::format("touched address {}, far from every tensor (signal {})", fault.address, fault.signal);
}

// What was written where none of these tensors lies, in a memory of the first caller; empty: nothing.
std::string Call::check_gaps(std::size_t memory, const std::vector<Laid>& laid) const {
  std::string wrong;
  const void* const origin = poison_origin(memory_[memory].writable(pointers_[memory]), memory);
  for_each_gap(laid, memory_[memory], [&](const std::uint8_t* begin, const std::uint8_t* end) {
    const auto* touched = poison_.find_touched(origin, begin, end);
    if (touched != nullptr) wrong = laid.empty() ? "wrote" : "wrote " + position(begins_nearest(laid, touched), touched);
    return touched == nullptr;
  });
  return wrong;
}

// True if every output holds the poison, or the input that it lies on.
bool Call::untouched() const {
  for (std::size_t t = inputs_.size(); t < signature_.tensors.size(); ++t) {
    const Place& place = places_[t];
    if (place.as != t && !holds(signature_.tensors[t], pointers_[t], inputs_[place.as])) return false;
    if (place.as != t) continue;
    std::vector<Laid> data = laid_in(place.memory);
    std::erase_if(data, [](const Laid& one) { return one.spec->role == Direction::out; });
    if (!check_gaps(place.memory, data).empty()) return false;
  }
  return true;
}

// The canaries: what is no element of a tensor must still be poison. And the inputs that no output lies on. Not of memory that the call could
// only read.
std::string Call::check_surroundings() const {
  for (std::size_t m = 0; m < signature_.tensors.size(); ++m) {
    const std::vector<Laid> laid = writable(m) ? laid_in(m) : std::vector<Laid>();
    std::string violation = laid.empty() ? "" : check_gaps(m, laid);
    if (!violation.empty()) return violation;
  }
  for (std::size_t t = 0; t < inputs_.size(); ++t) {
    const bool alone = places_[t].as == t && std::ranges::count(places_, t, &Place::as) == 1;
    if (alone && writable(places_[t].memory) && !holds(signature_.tensors[t], pointers_[t], inputs_[t]))
      return "changed its input " + signature_.tensors[t].name;
  }
  return {};
}

std::vector<Array> Call::outputs_of(std::size_t caller) const {
  std::vector<Array> outputs;
  const std::vector<TensorSpec>& specs = signature_of_caller(caller).tensors;
  for (std::size_t t = inputs_.size(); t < specs.size(); ++t) outputs.push_back(gather(specs[t], pointers_of(caller)[t]));
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

Outcome Call::run_instead(Executor& executor, const Placement& placement, const std::vector<FieldValue>& instead) {
  place(placement);
  const CallPart whole{params_, pointers_, instead};
  return examine(executor.run(*this, {&whole, 1}, {}));
}

std::string Call::run_other_data(Executor& executor, const Placement& placement) {
  place(placement, earlier_data(placement.before, inputs_));
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

std::vector<Outcome> Call::run_rivals(Executor& executor, int callers, const Manner& manner, const OtherCall* other) {
  const Placement front{fmt::format("of {} callers", callers), false, {}, Poison::Kind::nans};
  const auto count = static_cast<std::size_t>(callers);
  other_ = other == nullptr ? std::nullopt : std::optional(signature_of(op_, other->params));
  have_callers(count);
  std::vector<Array> data[2] = {inputs_, other == nullptr ? inputs_ : other->inputs};
  std::vector<CallPart> calls;
  for (std::size_t caller = 0; caller < count; ++caller) {
    const bool second = other != nullptr && caller % 2 == 1;
    std::vector<Array>& inputs = data[second ? 1 : 0];
    place(front, inputs, caller);
    const auto pointers = pointers_of(caller);
    calls.push_back({second ? other->params : params_, {pointers.begin(), pointers.end()}});
    inputs = moved_on(std::move(inputs), false);
  }
  const Execution execution = executor.run(*this, calls, manner);
  std::vector<Outcome> outcomes{examine(execution)};
  for (std::size_t caller = 1; caller < count; ++caller) {
    Outcome& outcome = outcomes.emplace_back();
    outcome.status = execution.status;
    outcome.outputs = outputs_of(caller);
  }
  other_.reset();
  have_callers(1);
  return outcomes;
}

}  // namespace assay
