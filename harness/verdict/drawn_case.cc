#include "harness/verdict/drawn_case.h"

#include "harness/verdict/call.h"
#include "harness/verdict/generate_input.h"
#include "reference/ops/status.h"

namespace assay {

std::vector<Array> generate_inputs(const Signature& signature, const std::map<std::string, Distribution>& data,
                                   const std::string& fallback, std::uint64_t seed, bool repeated) {
  std::vector<Array> inputs;
  for (const TensorSpec& spec : signature.tensors) {
    if (spec.role != Direction::in) continue;
    const auto named = data.find(spec.name);
    const Distribution distribution = named != data.end() ? named->second : distribution_for(spec, fallback);
    const auto stream = static_cast<std::uint32_t>(inputs.size());
    inputs.push_back(generate_input(spec, distribution, seed, stream, repeated ? data_period(spec.dtype) : 0));
  }
  return inputs;
}

LaidInputs::LaidInputs(const Signature& signature, const std::vector<Array>& inputs) {
  auto input = inputs.begin();
  for (const TensorSpec& spec : signature.tensors) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(spec.extent_bytes()));
    tensors_.push_back(memory_.back().get());
    if (spec.role == Direction::in) scatter(spec, *input++, tensors_.back());
  }
}

AssayStatus status_for(const Op& op, const Params& params, const Signature& signature, const std::vector<Array>& inputs) {
  return required_status(op, params, LaidInputs(signature, inputs).tensors());
}

TestCase drawn_case(const Op& op, Params params, const std::string& data, std::uint64_t seed) {
  TestCase test;
  test.params = std::move(params);
  test.seed = seed;
  test.drawn = true;
  test.tags.emplace_back("trivial");  // a draw is not chosen: one that zeros would pass is counted, and fails if all are
  const Signature signature = signature_of(op, test.params);
  test.inputs = generate_inputs(signature, {}, data, seed, true);
  test.status = status_for(op, test.params, signature, test.inputs);
  return test;
}

}  // namespace assay
