// A part of a call along one of its splits, and truth for a sample of a call's outputs, which is made of such parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/ops/op.h"

namespace assay {

// The whole of a call, or what it is cut into: params and base pointers, in the order of the signature.
struct CallPart {
  Params params;
  std::vector<void*> pointers;
  std::vector<FieldValue> instead =
      {};  // of what the params give: a call to be refused, for which no layout of its own is packed
};

// Rows begin .. end - 1 of what the split counts; `begin` is a multiple of its unit. `signature` is the whole's.
CallPart part_of(const Signature& signature, const CallPart& whole, const Split& split, std::int64_t begin, std::int64_t end);

// How parts grow: the units of the first, and of the one after `units`.
struct Growth {
  std::int64_t first;
  std::int64_t (*next)(std::int64_t units);
};

// The call cut into parts that grow, and what is left: by its first split, or by all of them, so that there is a part of each two such sizes.
std::vector<CallPart> growing_parts(const Op& op, const CallPart& whole, const Growth& growth, bool by_all);

// As reference_outputs, but of long calls only for some of what each split counts: the first, the last, those on both sides of what a
// kernel's constants and counters of 8 and 16 bits border, and a few drawn from the seed. The other outputs are marked bits_only, exact
// ones too. Where the op cannot be cut, and of what is judged as a whole, it is the reference's.
std::vector<reference::Expected> sampled_outputs(const Op& op, const Params& params, std::span<void* const> tensors,
                                                 std::uint64_t seed, const reference::Arithmetic& how = {});

// Truth for one element of an output, of a call that can be cut: as little of it is computed as its splits allow.
reference::Expected truth_at(const Op& op, const Params& params, std::span<void* const> tensors, std::size_t output,
                             std::int64_t element, const reference::Arithmetic& how = {});

}  // namespace assay
