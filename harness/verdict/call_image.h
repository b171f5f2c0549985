// A call's arguments as bytes that can be sent: which of their words are pointers, and into what.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "harness/interop/runner/messages.h"
#include "harness/verdict/executor.h"
#include "harness/verdict/guard.h"
#include "reference/ops/op.h"

namespace assay {

struct CallImage {
  wire::PartImage part;
  std::vector<std::size_t>
      tensors;  // of each pointer into a memory: the tensor of the signature; pointers to blocks come after them
};

// Block 0 is the argument struct, the others are the arrays that it points to. Throws std::logic_error for a pointer that lies in
// none of the memories.
CallImage call_image(const Op& op, const CallPart& part, std::span<const GuardedMemory> memory);

// Where a tensor lies: in which memory, and how far from its start.
struct PlaceInMemory {
  std::size_t memory;
  std::int64_t offset;
};
// The same for tensors that `place` knows; their addresses are only looked at.
CallImage call_image(const Op& op, const CallPart& part, const std::function<PlaceInMemory(const void*)>& place);

}  // namespace assay
