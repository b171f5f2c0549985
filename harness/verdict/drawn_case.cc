#include "harness/verdict/drawn_case.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "harness/verdict/call.h"
#include "harness/verdict/coincidences.h"
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
    if (spec.role != Direction::in) continue;
    if (input == inputs.end() || input->bytes.size() != static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype))
      throw std::invalid_argument(spec.name + " is missing, or of another size than the call's");
    scatter(spec, *input++, tensors_.back());
  }
}

AssayStatus status_for(const Op& op, const Params& params, const Signature& signature, const std::vector<Array>& inputs) {
  return required_status(op, params, LaidInputs(signature, inputs).tensors());
}

void add_coincidences(const Op& op, const Signature& signature, std::vector<std::size_t>& next, Draws& draws,
                      std::vector<Array>& inputs) {
  std::int64_t unit = 1;
  for (const Size& size : op.family->shapes(op).sizes) unit = std::max(unit, size.stride_of == nullptr ? size.unit : 1);
  for (std::size_t i = 0; i < inputs.size(); ++i) next[i] = coincide(signature.tensors[i], inputs[i], unit, next[i], draws);
}

namespace {

// Among others the largest index that may be, which a draw hardly meets.
void put_last_index(const TensorSpec& spec, Array& array) {
  if (array.dtype != DType::i32 || !spec.data || spec.data->high <= spec.data->low || array.elements() < 3) return;
  const auto last = static_cast<std::int32_t>(spec.data->high - 1);
  std::memcpy(&array.bytes[static_cast<std::size_t>(array.elements() / 2) * sizeof last], &last, sizeof last);
}

}  // namespace

Params most_rows_of(const Op& op, Draws& draws, int tries, const WantedRows& wanted) {
  const ShapeSpace space = op.family->shapes(op);
  Params best;
  std::int64_t most = -1;
  for (int i = 0; i < tries; ++i) {
    Params params = draw_params(op, space, draws, wanted.work);
    std::int64_t worth = 0;
    for (const TensorSpec& spec : signature_of(op, params).tensors) {
      const std::int64_t row = std::max<std::int64_t>(spec.shape.back(), 1);
      if (spec.role == Direction::in) worth += std::min(row, wanted.length) * std::min(spec.elements() / row, wanted.rows);
    }
    if (worth <= most) continue;
    most = worth;
    best = std::move(params);
  }
  return best;
}

TestCase drawn_case(const Op& op, Params params, const std::string& data, std::uint64_t seed) {
  TestCase test;
  test.params = std::move(params);
  test.seed = seed;
  test.drawn = true;
  test.tags.emplace_back("trivial");  // a draw is not chosen: one that zeros would pass is counted, and fails if all are
  const Signature signature = signature_of(op, test.params);
  const bool coincide = data == kCoincidences;
  test.inputs = generate_inputs(signature, {}, coincide ? "gauss" : data, seed, true);
  if (coincide) {
    Draws draws(~seed);
    std::vector<std::size_t> next;
    while (next.size() < test.inputs.size()) next.push_back(draws.below(1 << 16));
    add_coincidences(op, signature, next, draws, test.inputs);
  }
  for (std::size_t i = 0; i < test.inputs.size(); ++i) put_last_index(signature.tensors[i], test.inputs[i]);
  test.status = status_for(op, test.params, signature, test.inputs);
  return test;
}

}  // namespace assay
