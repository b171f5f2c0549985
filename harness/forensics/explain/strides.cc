// Rows that have gaps between them, taken to lie without.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/forensics/explain/hypothesis.h"

namespace assay::why {
namespace {

using I = std::int64_t;

constexpr I kGap = -2;  // a place between rows

// Of each element, in the tensor's order, which element of it lies where the dense tensor has this one; kGap where none does.
std::vector<I> dense_places(const TensorSpec& spec) {
  std::vector<I> holds(static_cast<std::size_t>(spec.extent()), kGap);
  std::vector<I> found(static_cast<std::size_t>(spec.elements()), kGap);
  for (I i = 0; i < spec.elements(); ++i) {
    I rest = i;
    I at = 0;
    for (std::size_t axis = spec.shape.size(); axis-- > 0;) {
      at += rest % spec.shape[axis] * spec.strides[axis];
      rest /= spec.shape[axis];
    }
    holds[static_cast<std::size_t>(at)] = i;
  }
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = holds[i];
  return found;
}

bool has_gaps(const TensorSpec& spec) {
  return spec.elements() > 0 && spec.extent() > spec.elements() && spec.extent() < (I{1} << 24);
}

// What lay in gaps when the kernel was called once more is known.
std::optional<Prediction> read_dense_again(const Op& op, const Evidence& one, std::size_t input) {
  std::vector<Array> inputs = one.call->inputs;
  std::vector<std::uint8_t>& bytes = inputs[input].bytes;
  std::copy_n(one.laid[input].begin(), bytes.size(), bytes.begin());
  auto said = reference_of(op, one.params, inputs, one);
  if (said) said->of_again = true;
  return said;
}

// Where it is unknown, the outputs on which it tells are such as differ between two guesses.
constexpr std::uint8_t kGuesses[] = {0x00, 0x41};

std::optional<Prediction> read_dense(const Op& op, const Evidence& one, std::size_t input) {
  const TensorSpec& spec = *one.inputs()[input];
  if (!has_gaps(spec)) return std::nullopt;
  if (one.fails() && !one.laid[input].empty()) return read_dense_again(op, one, input);
  const std::vector<I> places = dense_places(spec);
  const std::size_t size = dtype_size(spec.dtype);
  std::vector<std::optional<Prediction>> said;
  for (const std::uint8_t guess : kGuesses) {
    std::vector<Array> inputs = one.call->inputs;
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::uint8_t* const to = &inputs[input].bytes[i * size];
      if (places[i] == kGap)
        std::memset(to, guess, size);
      else
        std::memcpy(to, &one.call->inputs[input].bytes[static_cast<std::size_t>(places[i]) * size], size);
    }
    said.push_back(reference_of(op, one.params, inputs, one));
    if (!said.back()) return std::nullopt;
  }
  const auto specs = one.outputs();
  for (std::size_t o = 0; o < specs.size(); ++o) {
    reference::Expected& out = said[0]->outputs[o];
    const reference::Expected& other = said[1]->outputs[o];
    const auto count = static_cast<std::size_t>(specs[o]->elements());
    const std::size_t bytes = dtype_size(specs[o]->dtype);
    if (out.bits_only.empty()) out.bits_only.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const bool same = out.value.empty()
                            ? !out.bytes.empty() && std::memcmp(&out.bytes[i * bytes], &other.bytes[i * bytes], bytes) == 0
                            : out.value[i] == other.value[i];
      if (!same) out.bits_only[i] = 1;
    }
  }
  return said[0];
}

std::optional<Prediction> written_dense(const Evidence& one, std::size_t output) {
  const TensorSpec& spec = *one.outputs()[output];
  if (!has_gaps(spec) || !one.call->expected[output].encoding.weight.empty()) return std::nullopt;
  Prediction said{one.call->expected, {}};
  const reference::Expected& truth = one.call->expected[output];
  reference::Expected& out = said.outputs[output];
  for (const TensorSpec* each : one.outputs()) said.unwritten.emplace_back(static_cast<std::size_t>(each->elements()), false);
  const std::size_t size = dtype_size(spec.dtype);
  for (I i = 0; i < spec.elements(); ++i) {
    I rest = i;
    I from = 0;  // the dense element that lies where this one is looked for
    for (std::size_t axis = spec.shape.size(); axis-- > 0;) {
      from += rest % spec.shape[axis] * spec.strides[axis];
      rest /= spec.shape[axis];
    }
    const auto to = static_cast<std::size_t>(i);
    const auto at = static_cast<std::size_t>(from);
    said.unwritten[output][to] = from >= spec.elements();
    if (from >= spec.elements()) continue;
    if (!truth.value.empty()) out.value[to] = truth.value[at], out.bound[to] = truth.bound[at];
    if (!truth.bytes.empty()) std::memcpy(&out.bytes[to * size], &truth.bytes[at * size], size);
    if (!truth.bits_only.empty()) out.bits_only[to] = truth.bits_only[at];
  }
  return said;
}

}  // namespace

void add_strides(const Op& op, Cases cases, Hypotheses& all) {
  const auto add = [&](const TensorSpec& spec, std::function<std::optional<Prediction>(const Evidence&)> predict) {
    if (spec.shape.size() < 2) return;
    all.push_back({fmt::format("dense:{}", spec.name), "stride",
                   fmt::format("rows of {} are taken to lie without gaps", spec.name), Law::layout, 2, std::move(predict)});
  };
  const auto inputs = cases.front().inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    add(*inputs[i], [&op, i](const Evidence& one) { return read_dense(op, one, i); });
  const auto outputs = cases.front().outputs();
  for (std::size_t o = 0; o < outputs.size(); ++o) add(*outputs[o], [o](const Evidence& one) { return written_dense(one, o); });
}

}  // namespace assay::why
