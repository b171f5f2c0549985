// A call laid out in guarded memory as its op describes it: placed, run, and its surroundings examined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golden/hdf5.h"
#include "harness/verdict/executor.h"
#include "harness/verdict/guard.h"
#include "reference/ops/op.h"

namespace assay {

// Where the tensors of a call lie in their memory.
struct Placement {
  std::string name;            // for messages
  bool at_end = true;          // each tensor's last byte against the rear guard page, as far as its alignment allows
  std::size_t step = 0;        // at_end = false: offsets from the front guard page, another for each tensor
  std::uint8_t poison = 0xff;  // fills what is no tensor's element: 0xff makes NaNs, 0x3b small finite numbers
  int in_place = -1;           // the output (its index in the signature) that lies on its alias
};

struct Outcome {
  AssayStatus status = ASSAY_OK;
  std::string violation;       // empty, or what was touched that must not be
  std::vector<Array> outputs;  // dense, in the order of the signature
  bool untouched = false;      // refused, and the outputs hold what they held before the call
  bool crashed = false;        // it did not end by returning: `violation` says how
};

class Call {
 public:
  // `inputs` are dense, in the order of the signature. Throws std::invalid_argument where one's type or shape is not
  // what the signature says. `page`: at least this machine's, and that of every machine it is to be sent to.
  Call(const Op& op, Params params, std::vector<Array> inputs, std::size_t page = guard_page_bytes());

  const Op& op() const { return op_; }
  const Signature& signature() const { return signature_; }
  const Params& params() const { return params_; }
  const std::vector<Array>& inputs() const { return inputs_; }
  std::size_t bytes() const;

  void place(const Placement& placement);
  // Base pointers as placed, in the order of the signature.
  std::span<void* const> pointers() const { return pointers_; }

  // What each tensor of the signature lies in.
  std::span<const GuardedMemory> memory() const { return memory_; }

  // Places, runs and examines everything around it.
  Outcome run(Executor& executor, const Placement& placement);
  // The same on the front placement, cut in `parts` by the signature's split, which run on threads or one after the other.
  Outcome run_split(Executor& executor, const Split& split, int parts, bool at_once);

  // Every placement this call is checked in: both ends; outputs on their aliases; and, for small calls, every
  // alignment that the header allows.
  std::vector<Placement> placements() const;

 private:
  std::vector<CallPart> cut(const Split& split, int parts) const;
  Outcome examine(const Execution& execution);
  std::string describe(const MemoryFault& fault) const;
  std::string check_surroundings() const;
  bool overwritten(std::size_t tensor) const;
  bool untouched() const;
  std::size_t alias_of(std::size_t output) const;

  const Op& op_;
  Params params_;
  Signature signature_;
  std::vector<Array> inputs_;
  std::vector<GuardedMemory> memory_;
  std::vector<void*> pointers_;
  Placement placed_;
};

// Gathers a strided tensor into a dense one, and back.
Array gather(const TensorSpec& spec, const void* base);
void scatter(const TensorSpec& spec, const Array& dense, void* base);

}  // namespace assay
