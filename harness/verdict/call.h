// A call laid out in guarded memory as its op describes it: placed, run, and its surroundings examined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golden/hdf5.h"
#include "harness/verdict/executor.h"
#include "harness/verdict/guard.h"
#include "harness/verdict/placements.h"
#include "harness/verdict/strided.h"
#include "reference/ops/op.h"

namespace assay {

struct Outcome {
  AssayStatus status = ASSAY_OK;
  std::string violation;       // empty, or what was touched that must not be
  std::vector<Array> outputs;  // dense, in the order of the signature
  bool untouched = false;      // refused, and the outputs hold what they held before the call
  bool crashed = false;        // it did not end as a call must: `violation` says how
  std::int64_t odd_call = 0;   // of many calls the first with other outputs than the first call's, which these are; 0: none
};

// How many parts a split of a call makes at most.
std::int64_t most_parts(const Split& split, const Params& params);

// Another call of the op, of as many tensors.
struct OtherCall {
  Params params;
  std::vector<Array> inputs;
};

class Call {
 public:
  // `inputs` are dense, in the order of the signature. Throws std::invalid_argument where one's type or shape is not
  // what the signature says. `page`: at least this machine's, and that of every machine it is to be sent to. `seed`: of poison and offsets.
  Call(const Op& op, Params params, std::vector<Array> inputs, std::size_t page = guard_page_bytes(), std::uint64_t seed = 1);

  const Op& op() const { return op_; }
  const Signature& signature() const { return signature_; }
  const Params& params() const { return params_; }
  const std::vector<Array>& inputs() const { return inputs_; }
  // Other data in the same call. Throws as the constructor.
  void set_inputs(std::vector<Array> inputs);
  std::size_t bytes() const;

  // Bytes past the end of an input that may be read from now on, 0 at first: by so many, up to its alignment, the rear guard page lies further.
  void allow_over_read(std::size_t bytes);

  void place(const Placement& placement) { place(placement, inputs_); }
  // Base pointers as placed, in the order of the signature; of an input that no output lies on, where it can only be read.
  std::span<void* const> pointers() const { return pointers_; }

  // What each tensor of the signature lies in, and while rivals run each of theirs; and whether the kernel may write there.
  std::span<const GuardedMemory> memory() const { return memory_; }
  const TensorSpec& spec_of(std::size_t memory) const;
  bool writable(std::size_t memory) const { return writable_[memory]; }

  // Places, runs and examines everything around it.
  Outcome run(Executor& executor, const Placement& placement, const Manner& manner = {});
  // Likewise, with other values in some fields, by which the tensors are no longer.
  Outcome run_instead(Executor& executor, const Placement& placement, const std::vector<FieldValue>& instead);
  // The same on the front placement, cut in at most `parts` by one of the signature's splits, into parts alike or each larger than the one
  // before.
  Outcome run_parts(Executor& executor, const Split& split, int parts, const Manner& manner, bool uneven = false);
  // The whole call, and as many more of other data in memory of their own as makes `callers`, every second one the other call where it is
  // given. An outcome each; of all but the first only the outputs are looked at.
  std::vector<Outcome> run_rivals(Executor& executor, int callers, const Manner& manner, const OtherCall* other = nullptr);
  // The other data that the placement wants at the same addresses. For what a kernel remembers; what it computes is not looked at. How it
  // ended, if not by returning; else empty.
  std::string run_other_data(Executor& executor, const Placement& placement);

  double work() const { return work_; }  // work_of its parameters
  // Every placement this call is checked in (harness/verdict/placements.h).
  const std::vector<Placement>& placements() const { return placements_; }

 private:
  // Where a tensor lies: in whose place, itself or another; in whose memory; how many bytes behind the start there.
  struct Place {
    std::size_t as;
    std::size_t memory;
    std::size_t behind;
  };

  // Memory and pointers of a caller are those from the index on that its first tensor has.
  std::size_t first_of(std::size_t caller) const { return caller * signature_.tensors.size(); }
  std::span<void* const> pointers_of(std::size_t caller) const {
    return pointers().subspan(first_of(caller), signature_.tensors.size());
  }
  void check_inputs() const;
  const Signature& signature_of_caller(std::size_t caller) const { return other_ && caller % 2 == 1 ? *other_ : signature_; }
  void have_callers(std::size_t count);
  void place(const Placement& placement, const std::vector<Array>& inputs, std::size_t caller = 0);
  std::vector<Place> places_of(const Placement& placement) const;
  // Poison is counted from there: in each memory it begins elsewhere, so that no gap is the copy of another.
  static const void* poison_origin(const void* base, std::size_t memory) {
    constexpr std::size_t kApart = 1240;
    return static_cast<const std::uint8_t*>(base) - kApart * memory;
  }
  // From the start of the memory to the end of what lies in it.
  static std::size_t extent(const std::vector<Place>& places, const Signature& signature, std::size_t memory);
  std::vector<Laid> laid_in(std::size_t memory) const;
  std::vector<CallPart> cut(const Split& split, int parts, bool uneven) const;
  std::vector<Array> outputs_of(std::size_t caller) const;
  Outcome examine(const Execution& execution);
  std::string describe(const MemoryFault& fault) const;
  std::string check_gaps(std::size_t memory, const std::vector<Laid>& laid) const;
  std::string check_surroundings() const;
  bool untouched() const;

  const Op& op_;
  Params params_;
  Signature signature_;
  std::vector<Array> inputs_;
  std::size_t page_;
  std::size_t over_read_ = 0;
  static constexpr std::size_t kRoom = 3 * kOffsets;
  std::size_t room_ = kRoom;             // of a memory, beside its tensor
  std::vector<std::size_t> most_bytes_;  // of each memory of the first caller, in any placement
  std::vector<GuardedMemory> memory_;
  std::vector<bool> writable_;
  std::vector<void*> pointers_;
  std::vector<Place> places_;       // of the first caller's tensors
  std::optional<Signature> other_;  // every second caller's
  double work_;
  std::vector<Placement> placements_;
  std::uint64_t poison_seed_;  // of the next placing's
  std::string placed_;         // the placement's name
  Poison poison_;              // that lies there
};

}  // namespace assay
