#include "harness/verdict/call.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace assay {
namespace {

constexpr std::size_t kLine = 64;                      // offsets are tried over a cache line
constexpr std::size_t kEveryAlignmentBytes = 1 << 18;  // larger calls are not tried at every alignment

// A stretch of elements without a gap.
struct Run {
  std::int64_t offset;
  std::int64_t count;
};

// The runs of a tensor in logical order, neighbours joined.
std::vector<Run> runs_of(const TensorSpec& spec) {
  std::vector<Run> runs;
  const std::int64_t inner = spec.shape.empty() ? 1 : spec.shape.back();
  const std::int64_t rows = inner == 0 ? 0 : spec.elements() / inner;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t offset = 0;
    std::int64_t rest = row;
    for (std::size_t axis = spec.shape.size(); axis-- > 1;) {
      offset += rest % spec.shape[axis - 1] * spec.strides[axis - 1];
      rest /= spec.shape[axis - 1];
    }
    if (!runs.empty() && runs.back().offset + runs.back().count == offset) {
      runs.back().count += inner;
    } else {
      runs.push_back({offset, inner});
    }
  }
  return runs;
}

// The first byte in [begin, end) that is not `poison`; null if none.
const std::uint8_t* find_touched(const std::uint8_t* begin, const std::uint8_t* end, std::uint8_t poison) {
  const auto* touched = std::find_if(begin, end, [poison](std::uint8_t byte) { return byte != poison; });
  return touched == end ? nullptr : touched;
}

// Says where `address` lies as seen from the tensor in [base, base + bytes).
std::string position(const TensorSpec& spec, const std::uint8_t* base, const std::uint8_t* address) {
  const auto bytes = static_cast<std::ptrdiff_t>(spec.extent_bytes());
  if (address < base) return fmt::format("{} bytes before the start of {}", base - address, spec.name);
  if (address >= base + bytes) return fmt::format("{} bytes past the end of {}", address - (base + bytes) + 1, spec.name);
  return fmt::format("byte {} of {}, in the gap between its rows", address - base, spec.name);
}

// Calls visit(begin, end) for each stretch of the memory that holds no element of the tensor, ascending, until it
// returns false.
template <class Visit>
void for_each_gap(const TensorSpec& spec, const GuardedMemory& memory, std::uint8_t* base, Visit visit) {
  const std::size_t size = dtype_size(spec.dtype);
  std::vector<Run> runs = runs_of(spec);  // strides need not fall from the outer axes to the inner
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.offset < b.offset; });
  std::uint8_t* from = memory.begin();
  for (const Run& run : runs) {
    std::uint8_t* start = base + static_cast<std::size_t>(run.offset) * size;
    if (!visit(from, start)) return;
    from = start + static_cast<std::size_t>(run.count) * size;
  }
  visit(from, memory.end());
}

// The canaries: what is no element of the tensor must still be poison.
std::string check_canaries(const TensorSpec& spec, const GuardedMemory& memory, std::uint8_t* base, std::uint8_t poison) {
  std::string violation;
  for_each_gap(spec, memory, base, [&](const std::uint8_t* begin, const std::uint8_t* end) {
    const auto* touched = find_touched(begin, end, poison);
    if (touched != nullptr) violation = "wrote " + position(spec, base, touched);
    return touched == nullptr;
  });
  return violation;
}

bool holds(const TensorSpec& spec, const void* base, const Array& dense) {
  const std::size_t size = dtype_size(spec.dtype);
  const std::uint8_t* expected = dense.bytes.data();
  for (const Run& run : runs_of(spec)) {
    const std::size_t bytes = static_cast<std::size_t>(run.count) * size;
    if (std::memcmp(static_cast<const std::uint8_t*>(base) + static_cast<std::size_t>(run.offset) * size, expected, bytes) != 0)
      return false;
    expected += bytes;
  }
  return true;
}

void check_input(const Op& op, const TensorSpec& spec, const Array& array) {
  if (array.dtype == spec.dtype && array.shape == spec.shape) return;
  throw std::invalid_argument(fmt::format("{}: input '{}' is {} [{}]; expected {} [{}]", op.name, spec.name,
                                          dtype_name(array.dtype), fmt::join(array.shape, ", "), dtype_name(spec.dtype),
                                          fmt::join(spec.shape, ", ")));
}

}  // namespace

Array gather(const TensorSpec& spec, const void* base) {
  Array dense;
  dense.dtype = spec.dtype;
  dense.shape = spec.shape;
  const std::size_t size = dtype_size(spec.dtype);
  dense.bytes.resize(static_cast<std::size_t>(spec.elements()) * size);
  std::uint8_t* to = dense.bytes.data();
  for (const Run& run : runs_of(spec)) {
    const std::size_t bytes = static_cast<std::size_t>(run.count) * size;
    std::memcpy(to, static_cast<const std::uint8_t*>(base) + static_cast<std::size_t>(run.offset) * size, bytes);
    to += bytes;
  }
  return dense;
}

void scatter(const TensorSpec& spec, const Array& dense, void* base) {
  const std::size_t size = dtype_size(spec.dtype);
  const std::uint8_t* from = dense.bytes.data();
  for (const Run& run : runs_of(spec)) {
    const std::size_t bytes = static_cast<std::size_t>(run.count) * size;
    std::memcpy(static_cast<std::uint8_t*>(base) + static_cast<std::size_t>(run.offset) * size, from, bytes);
    from += bytes;
  }
}

Call::Call(const Op& op, Params params, std::vector<Array> inputs, std::size_t page)
    : op_(op), params_(std::move(params)), signature_(signature_of(op, params_)), inputs_(std::move(inputs)) {
  std::size_t next = 0;
  for (const TensorSpec& spec : signature_.tensors) {
    if (spec.role == Direction::in) {
      if (next == inputs_.size()) throw std::invalid_argument(fmt::format("{}: input '{}' is missing", op.name, spec.name));
      check_input(op, spec, inputs_[next++]);
    }
    memory_.emplace_back(spec.extent_bytes() + kLine, page);
  }
  pointers_.resize(memory_.size());
}

std::size_t Call::bytes() const {
  std::size_t total = 0;
  for (const TensorSpec& spec : signature_.tensors) total += spec.extent_bytes();
  return total;
}

void Call::place(const Placement& placement) {
  placed_ = placement;
  std::size_t next_input = 0;
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    const GuardedMemory& memory = memory_[t];
    std::uint8_t* base = memory.begin() + placement.step * (2 * t + 1) * spec.alignment % kLine;
    if (placement.at_end) {
      base = memory.end() - spec.extent_bytes();
      base -= reinterpret_cast<std::uintptr_t>(base) % spec.alignment;
    }
    pointers_[t] = base;
    const auto poison = [&](std::uint8_t* begin, const std::uint8_t* end) {
      std::memset(begin, placement.poison, static_cast<std::size_t>(end - begin));
      return true;
    };
    if (spec.role == Direction::out) {
      poison(memory.begin(), memory.end());
    } else {
      for_each_gap(spec, memory, base, poison);
      scatter(spec, inputs_[next_input++], base);
    }
  }
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    if (signature_.tensors[t].in_place_only || static_cast<int>(t) == placement.in_place) pointers_[t] = pointers_[alias_of(t)];
  }
}

// The input that an output names as its alias.
std::size_t Call::alias_of(std::size_t output) const {
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    if (spec.role == Direction::in && spec.name == signature_.tensors[output].alias) return t;
  }
  throw std::logic_error(fmt::format("{}: no input '{}'", op_.name, signature_.tensors[output].alias));
}

std::string Call::describe(const MemoryFault& fault) const {
  if (fault.reason != nullptr) return fault.reason;
  if (fault.signal == SIGILL) return "executed an instruction that this CPU lacks (SIGILL)";
  if (fault.signal == SIGFPE) return "raised SIGFPE";
  if (fault.signal == SIGABRT) return "aborted (SIGABRT)";
  if (fault.signal == SIGTRAP) return "trapped (SIGTRAP)";
  const auto* address = static_cast<const std::uint8_t*>(fault.address);
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    if (!memory_[t].owns(address)) continue;
    return "touched " + position(signature_.tensors[t], static_cast<const std::uint8_t*>(pointers_[t]), address) +
           " (guard page)";
  }
  return fmt::format("touched address {}, far from every tensor (signal {})", fault.address, fault.signal);
}

// True if an output lies on this input.
bool Call::overwritten(std::size_t tensor) const {
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    if (signature_.tensors[t].role == Direction::out && t != tensor && pointers_[t] == pointers_[tensor]) return true;
  }
  return false;
}

// True if every output holds the poison, or the input that it lies on.
bool Call::untouched() const {
  std::size_t next_input = 0;
  std::vector<const Array*> originals(memory_.size(), nullptr);
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    if (signature_.tensors[t].role == Direction::in) originals[t] = &inputs_[next_input++];
  }
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    if (spec.role == Direction::in) continue;
    if (!memory_[t].owns(pointers_[t])) {
      if (!holds(spec, pointers_[t], *originals[alias_of(t)])) return false;
      continue;
    }
    for (const std::uint8_t byte : gather(spec, pointers_[t]).bytes) {
      if (byte != placed_.poison) return false;
    }
  }
  return true;
}

std::string Call::check_surroundings() const {
  std::size_t next_input = 0;
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    const Array* original = spec.role == Direction::in ? &inputs_[next_input++] : nullptr;
    if (!memory_[t].owns(pointers_[t])) continue;  // an output on its alias: examined there
    std::string violation = check_canaries(spec, memory_[t], static_cast<std::uint8_t*>(pointers_[t]), placed_.poison);
    if (!violation.empty()) return violation;
    if (original != nullptr && !overwritten(t) && !holds(spec, pointers_[t], *original)) {
      return "changed its input " + spec.name;
    }
  }
  return {};
}

Outcome Call::examine(const Execution& execution) {
  Outcome outcome;
  outcome.status = execution.status;
  outcome.crashed = execution.fault || !execution.failure.empty();
  outcome.violation = execution.fault ? describe(*execution.fault) : outcome.crashed ? execution.failure : check_surroundings();
  if (!outcome.violation.empty()) outcome.violation += ", placed " + placed_.name;
  outcome.untouched = outcome.status != ASSAY_OK && untouched();
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    if (spec.role == Direction::out) outcome.outputs.push_back(gather(spec, pointers_[t]));
  }
  return outcome;
}

Outcome Call::run(Executor& executor, const Placement& placement) {
  place(placement);
  const CallPart whole{params_, pointers_};
  return examine(executor.run(*this, {&whole, 1}, false));
}

// Neighbouring ranges of the split's param, at multiples of its unit.
std::vector<CallPart> Call::cut(const Split& split, int parts) const {
  const std::int64_t count = params_.integer(split.param);
  const std::int64_t units = (count + split.unit - 1) / split.unit;
  const std::int64_t most = std::clamp<std::int64_t>(parts, 1, std::max<std::int64_t>(units, 1));
  std::vector<CallPart> all;
  for (std::int64_t p = 0; p < most; ++p) {
    const std::int64_t begin = units * p / most * split.unit;
    const std::int64_t end = std::min(count, units * (p + 1) / most * split.unit);
    all.push_back(part_of(signature_, {params_, pointers_}, split, begin, end));
  }
  return all;
}

Outcome Call::run_split(Executor& executor, const Split& split, int parts, bool at_once) {
  place({fmt::format("cut by {} {} {} {}", split.param, at_once ? "among" : "in", parts, at_once ? "threads" : "parts"), false, 0,
         0xff, -1});
  return examine(executor.run(*this, cut(split, parts), at_once));
}

std::vector<Placement> Call::placements() const {
  std::vector<Placement> all{{"against the rear guard page", true, 0, 0xff, -1},
                             {"against the front guard page", false, 0, 0x3b, -1}};
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    if (!spec.alias.empty() && !spec.in_place_only)
      all.push_back({spec.name + " in place of " + spec.alias, true, 0, 0xff, static_cast<int>(t)});
  }
  if (bytes() > kEveryAlignmentBytes) return all;
  std::size_t finest = kLine;
  for (const TensorSpec& spec : signature_.tensors) finest = std::min(finest, spec.alignment);
  for (std::size_t step = 1; step < kLine / finest; ++step) {
    all.push_back({fmt::format("at offset {} from a cache line", step * finest), false, step, 0x3b, -1});
  }
  return all;
}

}  // namespace assay
