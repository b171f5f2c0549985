// The calls that a benchmark times: an op's call, laid out in several copies that take turns.
#pragma once

#include <cstddef>
#include <vector>

#include "golden/hdf5.h"
#include "harness/verdict/bench/buffer.h"
#include "harness/verdict/variant.h"

namespace assay::bench {

enum class Temperature {
  cold,  // each call finds its tensors in memory, not in a cache
  warm,  // one copy
};

// What an input is filled with, again and again from its first element: data that must make sense as a whole (ids, positions, tables) is
// there whole, other data is at most `most` elements.
Array pattern_of(const TensorSpec& spec, std::uint32_t stream, std::int64_t most);

class Rotation {
 public:
  // Throws what signature_of() throws, std::invalid_argument for a call without data, and std::bad_alloc.
  Rotation(const Op& op, const Variant& variant, const Params& params, Temperature temperature);

  // Runs the next copy's call.
  AssayStatus run();

  // How many calls in a row are cold. Where a call touches little of what it is given (rows of a table), the copies
  // are few and small, and a cache keeps them: then the caller must evict() them after that many. 0: all calls are.
  std::size_t cold_calls() const noexcept { return cold_calls_; }

 private:
  using Copies = std::vector<std::vector<void*>>;  // pointers in the order of the signature
  Copies lay_out(const Op& op, const Params& params, const Signature& signature, Temperature temperature);

  AssayStatus (*kernel_)(const void* args);
  PageBuffer memory_;
  std::vector<Arguments> calls_;  // one a copy
  std::size_t next_ = 0;
  std::size_t cold_calls_ = 0;
};

}  // namespace assay::bench
