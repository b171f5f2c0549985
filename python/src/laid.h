// A call's tensors in plain memory, for the reference to look at.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "harness/verdict/strided.h"
#include "reference/ops/op.h"

namespace assay::python {

// A call's tensors in memory of its own, inputs filled.
class Laid {
 public:
  Laid(const Op& op, const Params& params, const std::vector<Array>& inputs) : signature_(signature_of(op, params)) {
    auto input = inputs.begin();
    for (const TensorSpec& spec : signature_.tensors) {
      memory_.push_back(std::make_unique<std::byte[]>(spec.extent_bytes()));
      pointers_.push_back(memory_.back().get());
      if (spec.role == Direction::in) scatter(spec, *input++, pointers_.back());
    }
    for (std::size_t t = 0; t < pointers_.size(); ++t) {
      if (!signature_.tensors[t].in_place_only) continue;
      for (std::size_t other = 0; other < t; ++other) {
        if (signature_.tensors[other].name == signature_.tensors[t].aliases.front()) pointers_[t] = pointers_[other];
      }
    }
  }
  const Signature& signature() const { return signature_; }
  std::span<void* const> pointers() const { return pointers_; }

 private:
  Signature signature_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<void*> pointers_;
};

}  // namespace assay::python
