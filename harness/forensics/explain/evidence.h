// What a kernel did in an op's cases, and what another computation would have given there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/forensics/explain/contents.h"
#include "harness/verdict/check.h"

namespace assay::why {

using Mask = std::vector<bool>;  // of an output's elements

struct Evidence {
  std::string name;
  Params params;
  Params whole;  // with what follows from others set as it is, but strides: a size can then change alone
  std::shared_ptr<const JudgedCall> call;
  double work = 0;
  std::optional<std::uint64_t> sample;  // the seed by which a sample of the outputs was computed; else all were
  std::vector<Contents> contents;       // of each input
  std::vector<Mask> wrong;              // an output each; empty: the case passes
  std::vector<Mask> unwritten;          // of a case that fails: what holds what lay there before
  // Of a case that fails, when it is called once more: what it gives, and the inputs with what lay in their gaps (empty where they have none).
  std::vector<Array> again;
  std::vector<Array> before;  // what lay in its outputs then
  std::vector<std::vector<std::uint8_t>> laid;
  bool recovers = false;  // it failed in the run, and passes when it is called once more
  bool unsteady = false;  // it gives other results where other bytes lie in its outputs before the call

  bool fails() const { return !wrong.empty(); }
  std::vector<const TensorSpec*> tensors(Direction role) const;
  std::vector<const TensorSpec*> inputs() const { return tensors(Direction::in); }
  std::vector<const TensorSpec*> outputs() const { return tensors(Direction::out); }
};

// What a hypothesis says of a call's outputs. An element of which it says nothing is marked `bits_only`.
struct Prediction {
  std::vector<reference::Expected> outputs;
  std::vector<Mask> unwritten = {};  // these hold what lay there before; empty: none
  bool of_again = false;             // it is of `again`
  bool any_nan = false;              // a NaN that it says is any
};

// What a hypothesis says of outputs.
enum class Says : std::uint8_t {
  what,     // what stands in each
  place,    // which are other numbers: those that a prediction marks `bits_only`
  neither,  // that some hold what lay there before, or change from call to call
};

inline Prediction truth_of(const Evidence& one) {
  return {one.call->expected};
}

// Evidence::whole.
Params frozen(const Op& op, const Params& params);

// A case that passes, or that fails by its values; nothing of others, which no computation explains. `candidate` is asked once more where it
// fails.
std::optional<Evidence> evidence_of(const Op& op, const CaseResult& result, const Candidate& candidate, std::size_t page);

// A call that was recorded, of a kernel that cannot be asked again. Nothing where there is no such call.
std::optional<Evidence> recorded_evidence(const Op& op, std::string name, const Params& params, std::vector<Array> inputs,
                                          std::vector<Array> outputs);

// The reference's word on a call, of which like `like` a sample is enough. Nothing where there is no such call, or it is to be refused.
std::optional<Prediction> reference_of(const Op& op, const Params& params, const std::vector<Array>& inputs, const Evidence& like,
                                       const reference::Arithmetic& how = {});

// How far the kernel's element is from what is expected, in the bound; 0 where nothing is.
double margin_at(const Op& op, const TensorSpec& spec, const Array& got, const reference::Expected& expected, std::int64_t index);
// The largest of all outputs, infinite where an element is to be unwritten and is not.
double margin_of(const Op& op, const Evidence& evidence, const Prediction& prediction);
// Whether it says nothing of an element that is wrong, as where no bound holds any more: anything would agree with that.
bool evades(const Evidence& evidence, const Prediction& prediction);

}  // namespace assay::why
