#include "harness/verdict/strided.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace assay {
namespace {

// A stretch of bytes of a tensor without a gap, from its base.
struct Run {
  std::size_t offset;
  std::size_t bytes;
};

// The runs of a tensor in logical order, neighbours joined: axes that follow each other without a gap are one.
std::vector<Run> runs_of(const TensorSpec& spec) {
  const std::int64_t all = spec.elements();
  std::int64_t inner = 1;
  std::size_t axes = spec.shape.size();
  for (; axes > 0 && (spec.strides[axes - 1] == inner || spec.shape[axes - 1] == 1); --axes) inner *= spec.shape[axes - 1];
  const std::size_t size = dtype_size(spec.dtype);
  const std::size_t bytes = static_cast<std::size_t>(inner) * size;
  std::vector<Run> runs;
  for (std::int64_t row = 0; row < (all == 0 ? 0 : all / inner); ++row) {
    std::int64_t elements = 0;
    std::int64_t rest = row;
    for (std::size_t axis = axes; axis-- > 0;) {
      elements += rest % spec.shape[axis] * spec.strides[axis];
      rest /= spec.shape[axis];
    }
    const std::size_t offset = static_cast<std::size_t>(elements) * size;
    if (!runs.empty() && runs.back().offset + runs.back().bytes == offset) {
      runs.back().bytes += bytes;
    } else {
      runs.push_back({offset, bytes});
    }
  }
  return runs;
}

// Ascending, those that touch or overlap joined: strides need not fall from the outer axes to the inner.
std::vector<Run> as_they_lie(std::vector<Run> runs) {
  std::ranges::sort(runs, {}, &Run::offset);
  std::vector<Run> joined;
  for (const Run& run : runs) {
    const std::size_t end = joined.empty() ? 0 : joined.back().offset + joined.back().bytes;
    if (!joined.empty() && end >= run.offset) {
      joined.back().bytes += std::max(end, run.offset + run.bytes) - end;
    } else {
      joined.push_back(run);
    }
  }
  return joined;
}

}  // namespace

Array gather(const TensorSpec& spec, const void* base) {
  Array dense;
  dense.dtype = spec.dtype;
  dense.shape = spec.shape;
  dense.bytes.resize(static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype));
  std::uint8_t* to = dense.bytes.data();
  for (const Run& run : runs_of(spec)) {
    std::memcpy(to, static_cast<const std::uint8_t*>(base) + run.offset, run.bytes);
    to += run.bytes;
  }
  return dense;
}

void scatter(const TensorSpec& spec, const Array& dense, void* base) {
  const std::uint8_t* from = dense.bytes.data();
  for (const Run& run : runs_of(spec)) {
    std::memcpy(static_cast<std::uint8_t*>(base) + run.offset, from, run.bytes);
    from += run.bytes;
  }
}

void clear(const TensorSpec& spec, void* base) {
  for (const Run& run : runs_of(spec)) std::memset(static_cast<std::uint8_t*>(base) + run.offset, 0, run.bytes);
}

void for_each_run(const TensorSpec& spec, const std::function<void(std::size_t offset, std::size_t bytes)>& visit) {
  for (const Run& run : runs_of(spec)) visit(run.offset, run.bytes);
}

bool holds(const TensorSpec& spec, const void* base, const Array& dense) {
  const std::uint8_t* expected = dense.bytes.data();
  for (const Run& run : runs_of(spec)) {
    if (std::memcmp(static_cast<const std::uint8_t*>(base) + run.offset, expected, run.bytes) != 0) return false;
    expected += run.bytes;
  }
  return true;
}

void for_each_gap(std::span<const Laid> tensors, const GuardedMemory& memory,
                  const std::function<bool(std::uint8_t* begin, std::uint8_t* end)>& visit) {
  std::vector<Run> runs;  // from the memory's begin
  for (const Laid& one : tensors) {
    for (const Run& run : runs_of(*one.spec))
      runs.push_back({static_cast<std::size_t>(one.base - memory.begin()) + run.offset, run.bytes});
  }
  std::uint8_t* from = memory.begin();
  for (const Run& run : as_they_lie(std::move(runs))) {
    std::uint8_t* start = memory.begin() + run.offset;
    if (!visit(from, start)) return;
    from = start + run.bytes;
  }
  visit(from, memory.end());
}

std::optional<std::size_t> overlap_of(const TensorSpec& one, const Array& held, const TensorSpec& other, const Array& others) {
  if (one.dtype != other.dtype || one.shape != other.shape || one.strides != other.strides || one.elements() < 2)
    return std::nullopt;
  const std::size_t behind = static_cast<std::size_t>(one.shape.back() / 2) * dtype_size(one.dtype);
  if (behind == 0 || behind % other.alignment != 0 || one.alignment % other.alignment != 0 ||
      std::memcmp(&held.bytes[behind], others.bytes.data(), dtype_size(one.dtype)) != 0)
    return std::nullopt;
  std::vector<std::uint8_t> memory(one.extent_bytes() + behind);
  scatter(one, held, memory.data());
  scatter(other, others, &memory[behind]);
  return holds(one, memory.data(), held) ? std::optional(behind) : std::nullopt;
}

std::optional<std::size_t> turn_of(const TensorSpec& one, const TensorSpec& other) {
  std::vector<Run> runs = as_they_lie(runs_of(one));
  const std::vector<Run> others = as_they_lie(runs_of(other));
  if (runs.size() < 2 || runs.size() != others.size() || one.alignment % other.alignment != 0) return std::nullopt;
  const std::size_t turn = (runs.front().bytes + other.alignment - 1) / other.alignment * other.alignment;
  for (const Run& run : others) runs.push_back({run.offset + turn, run.bytes});
  std::ranges::sort(runs, {}, &Run::offset);
  const auto overlap = [](const Run& a, const Run& b) { return a.offset + a.bytes > b.offset; };
  return std::ranges::adjacent_find(runs, overlap) == runs.end() ? std::optional(turn) : std::nullopt;
}

}  // namespace assay
