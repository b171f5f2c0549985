// A call's arguments as bytes that can be sent: which of their words are pointers, and into what.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/interop/runner/messages.h"
#include "harness/verdict/adapter.h"
#include "harness/verdict/guard.h"

namespace assay {

struct CallImage {
  wire::PartImage part;
  std::vector<std::size_t>
      tensors;  // of each pointer into a memory: the tensor of the signature; pointers to blocks come after them
};

// Found without knowing the op: the words that move with a tensor's base pointer are those that point into it. Throws
// std::logic_error for a pointer that lies in none of the memories.
CallImage call_image(const Adapter& adapter, const Params& params, std::span<void* const> tensors,
                     std::span<const GuardedMemory> memory);

// Where in the argument struct the pointer to this tensor stands; nullopt: nowhere, or the op has no such tensor.
std::optional<std::size_t> pointer_offset(const Adapter& adapter, const Params& params, std::string_view tensor);

}  // namespace assay
