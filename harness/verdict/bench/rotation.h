// The calls that a benchmark times: an adapter's call, laid out in several copies that take turns.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/verdict/adapter.h"
#include "harness/verdict/bench/buffer.h"
#include "harness/verdict/plugin_adapter.h"

namespace assay::bench {

enum class Temperature {
  cold,  // each call finds its tensors in memory, not in a cache
  warm,  // one copy
};

class Rotation {
 public:
  // Throws what adapter.signature() throws, std::invalid_argument for a call without data, and std::bad_alloc.
  Rotation(const Adapter& adapter, Params params, Temperature temperature);

  // Lays out anew, in each copy, the input that this variant takes in a layout of its own; nothing where it takes none. Throws
  // PluginError where it refuses.
  void pack(const PluginAdapter& adapter, std::size_t variant);

  // Runs the next copy's call.
  AssayStatus run(std::size_t variant);

  // How many calls in a row are cold. Where a call touches little of what it is given (rows of a table), the copies
  // are few and small, and a cache keeps them: then the caller must evict() them after that many. 0: all calls are.
  std::size_t cold_calls() const noexcept { return cold_calls_; }

 private:
  const Adapter& adapter_;
  Params params_;
  PageBuffer memory_;
  PageBuffer packed_;
  std::vector<std::vector<void*>> pointers_;  // by copy, in the order of the signature
  std::size_t next_ = 0;
  std::size_t cold_calls_ = 0;
};

}  // namespace assay::bench
