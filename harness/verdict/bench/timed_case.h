// A call as it is timed in a runner: its slots, the data that each seed makes, and the case that one of them is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/interop/runner/messages.h"
#include "harness/verdict/bench/rotation.h"
#include "harness/verdict/cases.h"

namespace assay::bench {

class TimedCase {
 public:
  // `packed_tensor`: the input that the kernel takes in a layout of its own; empty: none. Throws what signature_of() throws, and
  // std::invalid_argument for a call without data.
  TimedCase(const Op& op, const Params& params, Temperature temperature, const std::string& packed_tensor);

  const Op& op() const { return op_; }
  // Cold: slots that take more than four times the last cache, and one. Warm: as many as half the second-level cache holds, at least two.
  wire::TimedRequest request(std::uint64_t slots) const;
  std::uint64_t slots() const { return slots_; }
  // Whether the slots' calls touch so little that a cache keeps it: then the caller must evict() before each batch.
  bool evicts() const { return evicts_; }
  const Signature& signature() const { return signature_; }

  // The call of a seed, as it is in a slot's last of so many calls.
  TestCase case_of(std::uint64_t seed, std::uint64_t laps) const;
  // Whether a slot can be called again with other data: what the kernel changes in place is there once.
  bool has_laps() const { return has_laps_; }
  // Its outputs as arrays, from what the kernel wrote to their memory. `bytes_of`: that of a tensor.
  template <class Bytes>
  std::vector<Array> outputs(const Bytes& bytes_of) const {
    std::vector<Array> all;
    for (std::size_t t = 0; t < signature_.tensors.size(); ++t) {
      if (signature_.tensors[t].role == Direction::out) all.push_back(gathered(t, bytes_of(lies_on_[t])));
    }
    return all;
  }
  // Of outputs' place among the outputs.
  const std::string& output_name(std::size_t output) const;
  // The tensors whose memory the kernel writes to.
  std::vector<std::size_t> written() const;

 private:
  Array gathered(std::size_t tensor, std::span<const std::byte> bytes) const;

  const Op& op_;
  Params params_;
  Signature signature_;
  std::vector<std::size_t> lies_on_;  // of each tensor: itself, or the input in whose place it is
  std::vector<Array> patterns_;
  std::vector<TimedTensor> tensors_;
  wire::PartImage part_;
  std::uint32_t packed_ = wire::kNone;
  std::uint64_t slots_ = 0;
  bool evicts_ = false;
  bool has_laps_ = false;
};

}  // namespace assay::bench
