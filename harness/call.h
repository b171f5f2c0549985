// A call laid out in guarded memory as its adapter describes it: placed, run, and its surroundings examined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golden/hdf5.h"
#include "harness/adapter.h"
#include "harness/guard.h"

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
};

class Call {
 public:
  // `inputs` are dense, in the order of the signature. Throws std::invalid_argument where one's type or shape is not
  // what the signature says.
  Call(const Adapter& adapter, Params params, std::vector<Array> inputs);

  const Signature& signature() const { return signature_; }
  const Params& params() const { return params_; }
  const std::vector<Array>& inputs() const { return inputs_; }
  std::size_t bytes() const;

  void place(const Placement& placement);
  // Base pointers as placed, in the order of the signature.
  std::span<void* const> pointers() const { return pointers_; }

  // Places, runs one variant and examines everything around it.
  Outcome run(std::size_t variant, const Placement& placement);
  // The same on the front placement, cut among `threads` by the signature's split.
  Outcome run_split(std::size_t variant, const Split& split, int threads);

  // Every placement this call is checked in: both ends; outputs on their aliases; and, for small calls, every
  // alignment that the header allows.
  std::vector<Placement> placements() const;

 private:
  Outcome examine(AssayStatus status, const std::optional<MemoryFault>& fault);
  std::string describe(const MemoryFault& fault) const;
  std::string check_surroundings() const;
  bool overwritten(std::size_t tensor) const;
  bool untouched() const;
  std::size_t alias_of(std::size_t output) const;

  const Adapter& adapter_;
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
