// Calls whose tensors reach past 2^31 and 2^32 elements and bytes, in memory that repeats.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "golden/generate.h"
#include "golden/hdf5.h"
#include "harness/verdict/check.h"
#include "harness/verdict/discipline/kernel_run.h"
#include "harness/verdict/repeated_memory.h"
#include "reference/ops/op.h"
#include "reference/ops/split.h"

namespace assay {

// What the long inputs of vast calls hold, the last of them kept: they lie in many calls, of many lengths, of an op and of its neighbours.
class RepeatedInputs {
 public:
  explicit RepeatedInputs(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t seed() const { return seed_; }
  std::shared_ptr<const RepeatedFile> of(const TensorSpec& spec, std::uint32_t stream);

 private:
  struct Made {
    DType dtype;
    Distribution distribution;
    std::uint32_t stream;
    std::shared_ptr<const RepeatedFile> file;
  };

  std::uint64_t seed_;
  std::vector<Made> made_;
};

// The op's vast calls that go with random cases of that work: those of not too many operations, since most bytes are only lain over.
std::vector<Params> vast_params(const Op& op, double work);

// Calls of every length between powers of two, of many rows, heads or columns: few of them alone, and each two counts of those together, are
// their parts (growing_parts). They go with the vast ones. Of an op without rows a long one, of `any_length` past 2^24.
std::vector<Params> grid_params(const Op& op, bool any_length);

// One vast call of an op: inputs from the seed, which can only be read, truth from the reference, for a sample where it is long.
class VastCheck {
 public:
  VastCheck(const Op& op, Params params, RepeatedInputs& inputs);

  std::string name() const { return "vast " + params_.to_string(); }
  // In this process.
  CaseResult check(const Variant& variant, const Checks& checks);

 private:
  // The call, or its last rows.
  struct Rows {
    CallPart call;
    Signature signature;
    std::vector<reference::Expected> expected;
  };
  struct Ran {
    std::string violation;
    std::vector<Array> outputs;  // of all rows; those that were not asked for are zeros
    std::vector<Array> last;     // of last_, where it is another
  };
  static const std::vector<Array>& last_of(const Ran& ran) { return ran.last.empty() ? ran.outputs : ran.last; }
  void place(const TensorSpec& spec, RepeatedInputs& inputs);
  // What is wrong with how a call ended; empty: nothing.
  std::string complaint(const KernelEnd& end) const;
  // The scalar kernel, and what is no kernel but a model of one.
  bool is_slow(const Variant& variant) const;
  // What the variant is asked for: a slow one for the last rows.
  const Rows& asked_of(const Variant& variant) const;
  Ran run(const Variant& variant, std::span<const CallPart> parts);
  // In parts of growing sizes, which must give the bits of the whole.
  std::optional<Failure> check_parts(const Variant& variant, const Ran& whole);
  // With outputs in the place of inputs that are not too long, which must give the bits of the whole.
  std::optional<Failure> check_in_place(const Variant& variant, const Ran& whole);
  std::optional<Failure> judge(const Rows& rows, const Ran& ran, const Checks& checks, CaseResult& result) const;

  const Op& op_;
  Params params_;
  Signature signature_;
  std::vector<RepeatedMemory> memory_;
  std::vector<void*> pointers_;
  Rows all_;
  std::optional<Rows> last_;  // of a call of many operations
  std::optional<Ran> scalar_;
};

}  // namespace assay
