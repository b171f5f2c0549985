#include "reference/ops/split.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "golden/philox.h"
#include "reference/ops/describe.h"

namespace assay {
namespace {

using reference::Expected;

constexpr std::int64_t kFew = 24;  // that many units of a split are all taken
constexpr int kDrawn = 3;

struct Range {
  std::int64_t begin;
  std::int64_t end;
};

// What a kernel may count wrongly from there on.
std::set<std::int64_t> borders_of(const Op& op, const Split& split) {
  std::set<std::int64_t> borders(kCounters.begin(), kCounters.end());
  for (const Size& size : op.family->shapes(op).sizes) {
    for (const Border& border : size.borders) {
      if (size.name == std::string_view(split.param)) borders.insert(border.at());
    }
  }
  return borders;
}

std::vector<Range> sampled_ranges(const Op& op, const Params& params, const Split& split, std::uint64_t seed) {
  const std::int64_t count = params.integer(split.param);
  const std::int64_t units = ceil_div(count, split.unit);
  if (units <= kFew) return {{0, count}};
  std::set<std::int64_t> chosen{0, units - 1};
  for (const std::int64_t border : borders_of(op, split)) {
    const std::int64_t unit = border / split.unit;
    if (unit > 0 && unit < units) chosen.insert({unit - 1, unit});
  }
  for (int i = 0; i < kDrawn; ++i) {
    const std::uint64_t word = philox_block(seed, 0xfffffffe, static_cast<std::uint64_t>(i))[0];
    chosen.insert(static_cast<std::int64_t>(word * static_cast<std::uint64_t>(units) >> 32));
  }
  std::vector<Range> ranges;
  for (const std::int64_t unit : chosen) {
    const Range one{unit * split.unit, std::min(count, (unit + 1) * split.unit)};
    if (!ranges.empty() && ranges.back().end == one.begin) {
      ranges.back().end = one.end;
    } else {
      ranges.push_back(one);
    }
  }
  return ranges;
}

std::vector<TensorSpec> outputs_of(const Op& op, const Params& params) {
  std::vector<TensorSpec> outputs;
  for (TensorSpec& spec : signature_of(op, params).tensors) {
    if (spec.role == Direction::out) outputs.push_back(std::move(spec));
  }
  return outputs;
}

// A part, and where in each output of the whole its first element lies, axis by axis.
struct PlacedPart {
  CallPart call;
  std::vector<std::vector<std::int64_t>> at;
};

PlacedPart cut(const Op& op, const PlacedPart& from, const Split& split, Range range, const std::vector<TensorSpec>& outputs) {
  PlacedPart part{part_of(signature_of(op, from.call.params), from.call, split, range.begin, range.end), from.at};
  for (const SplitTensor& tensor : split.tensors) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o].name == tensor.name)
        part.at[o][static_cast<std::size_t>(tensor.axis)] += range.begin / tensor.rows * tensor.indices;
    }
  }
  return part;
}

PlacedPart whole_call(const Params& params, std::span<void* const> tensors, const std::vector<TensorSpec>& outputs) {
  PlacedPart whole{{params, {tensors.begin(), tensors.end()}}, {}};
  for (const TensorSpec& spec : outputs) whole.at.emplace_back(spec.shape.size(), 0);
  return whole;
}

Split split_of(const Op& op, const PlacedPart& part, std::string_view param) {
  const std::vector<Split> its = signature_of(op, part.call.params).splits;
  return *std::ranges::find(its, param, [](const Split& s) { return std::string_view(s.param); });
}

std::vector<std::int64_t> coordinates_of(const TensorSpec& spec, std::int64_t element) {
  std::vector<std::int64_t> at(spec.shape.size());
  for (std::size_t axis = at.size(); axis-- > 0; element /= spec.shape[axis]) at[axis] = element % spec.shape[axis];
  return at;
}

// Row-major index in the whole of element `index` of a part.
std::size_t place_in(const TensorSpec& whole, const TensorSpec& part, const std::vector<std::int64_t>& at, std::int64_t index) {
  std::int64_t place = 0;
  std::int64_t step = 1;
  for (std::size_t axis = whole.shape.size(); axis-- > 0;) {
    place += (at[axis] + index % part.shape[axis]) * step;
    step *= whole.shape[axis];
    index /= part.shape[axis];
  }
  return static_cast<std::size_t>(place);
}

Expected unsampled(const TensorSpec& spec, bool exact) {
  const auto count = static_cast<std::size_t>(spec.elements());
  Expected y;
  y.bits_only.assign(count, 1);
  if (exact) {
    y.bytes.resize(count * dtype_size(spec.dtype));
  } else {
    y.value.resize(count);
    y.bound.resize(count);
  }
  return y;
}

void put(const TensorSpec& whole, const TensorSpec& part, const std::vector<std::int64_t>& at, const Expected& from,
         Expected& to) {
  const std::size_t size = dtype_size(whole.dtype);
  for (std::int64_t i = 0; i < part.elements(); ++i) {
    const auto source = static_cast<std::size_t>(i);
    const std::size_t place = place_in(whole, part, at, i);
    to.bits_only[place] = from.bits_only.empty() ? 0 : from.bits_only[source];
    if (!to.bytes.empty()) {
      std::memcpy(&to.bytes[place * size], &from.bytes[source * size], size);
    } else {
      to.value[place] = from.value[source];
      to.bound[place] = from.bound[source];
    }
  }
}

}  // namespace

CallPart part_of(const Signature& signature, const CallPart& whole, const Split& split, std::int64_t begin, std::int64_t end) {
  CallPart part = whole;
  part.params.set(split.param, end - begin);
  for (const auto& [name, stride] : split.strides) part.params.set(name, stride);
  for (const auto& [name, start] : split.starts) part.params.set(name, start + begin);
  for (const SplitTensor& cut : split.tensors) {
    for (std::size_t t = 0; t < part.pointers.size(); ++t) {
      const TensorSpec& spec = signature.tensors[t];
      if (spec.name != cut.name || spec.elements() == 0) continue;  // what is empty has no place
      const std::int64_t elements = begin / cut.rows * cut.indices * spec.strides[static_cast<std::size_t>(cut.axis)];
      part.pointers[t] = static_cast<std::byte*>(part.pointers[t]) + static_cast<std::size_t>(elements) * dtype_size(spec.dtype);
    }
  }
  return part;
}

std::vector<CallPart> growing_parts(const Op& op, const CallPart& whole, const Growth& growth, bool by_all) {
  std::vector<Split> splits = signature_of(op, whole.params).splits;
  if (!by_all && splits.size() > 1) splits.resize(1);
  std::vector<CallPart> parts{whole};
  for (const Split& by : splits) {
    std::vector<CallPart> smaller;
    for (const CallPart& part : parts) {
      const Signature signature = signature_of(op, part.params);
      const Split& split = *std::ranges::find(signature.splits, std::string_view(by.param), &Split::param);
      const std::int64_t count = part.params.integer(split.param);
      std::int64_t units = growth.first;
      for (std::int64_t begin = 0; begin < count; units = growth.next(units)) {
        const std::int64_t end = std::min(count, begin + units * split.unit);
        smaller.push_back(part_of(signature, part, split, begin, end));
        begin = end;
      }
    }
    parts = std::move(smaller);
  }
  return parts;
}

std::vector<Expected> sampled_outputs(const Op& op, const Params& params, std::span<void* const> tensors, std::uint64_t seed,
                                      const reference::Arithmetic& how) {
  const std::vector<Split> splits = signature_of(op, params).splits;
  const bool exact = op.contract->exactness == reference::Exactness::exact;
  if (splits.empty() || op.contract->exactness == reference::Exactness::encoded)
    return reference_outputs(op, params, tensors, how);
  const std::vector<TensorSpec> outputs = outputs_of(op, params);
  std::vector<PlacedPart> parts{whole_call(params, tensors, outputs)};
  for (const Split& whole_split : splits) {
    std::vector<PlacedPart> smaller;
    for (const PlacedPart& part : parts) {
      const Split split = split_of(op, part, whole_split.param);
      for (const Range range : sampled_ranges(op, part.call.params, split, seed))
        smaller.push_back(cut(op, part, split, range, outputs));
    }
    parts = std::move(smaller);
  }
  std::vector<Expected> all;
  for (const TensorSpec& spec : outputs) all.push_back(unsampled(spec, exact));
  for (const PlacedPart& part : parts) {
    const std::vector<Expected> some = reference_outputs(op, part.call.params, part.call.pointers, how);
    const std::vector<TensorSpec> specs = outputs_of(op, part.call.params);
    for (std::size_t o = 0; o < outputs.size(); ++o) put(outputs[o], specs[o], part.at[o], some[o], all[o]);
  }
  return all;
}

Expected truth_at(const Op& op, const Params& params, std::span<void* const> tensors, std::size_t output, std::int64_t element,
                  const reference::Arithmetic& how) {
  const std::vector<TensorSpec> outputs = outputs_of(op, params);
  const std::vector<std::int64_t> wanted = coordinates_of(outputs[output], element);
  PlacedPart part = whole_call(params, tensors, outputs);
  for (const Split& whole_split : signature_of(op, params).splits) {
    const Split split = split_of(op, part, whole_split.param);
    const auto of_output = std::ranges::find(split.tensors, outputs[output].name, &SplitTensor::name);
    if (of_output == split.tensors.end()) continue;
    const auto axis = static_cast<std::size_t>(of_output->axis);
    const std::int64_t row = (wanted[axis] - part.at[output][axis]) / of_output->indices * of_output->rows;
    const std::int64_t begin = row / split.unit * split.unit;
    part = cut(op, part, split, {begin, std::min(part.call.params.integer(split.param), begin + split.unit)}, outputs);
  }
  const TensorSpec spec = outputs_of(op, part.call.params)[output];
  const Expected some = reference_outputs(op, part.call.params, part.call.pointers, how)[output];
  std::size_t at = 0;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis)
    at = at * static_cast<std::size_t>(spec.shape[axis]) + static_cast<std::size_t>(wanted[axis] - part.at[output][axis]);
  Expected one;
  one.value = {some.value[at]};
  one.bound = {some.bound[at]};
  if (!some.bits_only.empty()) one.bits_only = {some.bits_only[at]};
  return one;
}

}  // namespace assay
