#include "harness/forensics/order/kernel_call.h"

#include <fmt/format.h>

#include <cstring>

#include "harness/verdict/generate_input.h"
#include "reference/convert.h"

namespace assay::order {
namespace {

constexpr int kMostThreads = 3;

std::vector<Array> empty_inputs(const Op& op, const Params& params) {
  std::vector<Array> inputs;
  for (const TensorSpec& spec : signature_of(op, params).tensors) {
    if (spec.role == Direction::out) continue;
    inputs.push_back({spec.dtype, spec.shape, {}});
    inputs.back().bytes.resize(static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype));
  }
  return inputs;
}

}  // namespace

KernelCall::KernelCall(const Op& op, const Params& params, Executor& executor, std::size_t page, Watch watch)
    : call_(op, params, empty_inputs(op, params), page), executor_(executor), inputs_(call_.inputs()), watch_(std::move(watch)) {}

Array& KernelCall::input(std::string_view name) {
  std::size_t next = 0;
  for (const TensorSpec& spec : call_.signature().tensors) {
    if (spec.role == Direction::out) continue;
    if (spec.name == name) return inputs_[next];
    ++next;
  }
  throw std::logic_error(fmt::format("{} has no input '{}'", call_.op().name, name));
}

Array KernelCall::output_of(const Outcome& outcome) const {
  if (outcome.crashed || !outcome.violation.empty()) throw CallFailed(outcome.violation);
  if (outcome.status != ASSAY_OK)
    throw CallFailed(
        fmt::format("the kernel refuses {} (status {})", call_.params().to_string(), static_cast<int>(outcome.status)));
  return outcome.outputs.front();
}

Array KernelCall::run() {
  ++calls_;
  if (watch_) watch_(calls_);
  call_.set_inputs(inputs_);
  return output_of(call_.run(executor_, call_.placements().front()));
}

std::vector<std::string> KernelCall::dependences() {
  std::uint32_t stream = 0;
  std::size_t next = 0;
  for (const TensorSpec& spec : call_.signature().tensors) {
    if (spec.role == Direction::in) inputs_[next++] = generate_input(spec, distribution_for(spec, "gauss"), 1, stream++);
  }
  const Array first = run();
  std::vector<std::string> found;
  const auto compare = [&](const Outcome& other, const std::string& how) {
    ++calls_;
    if (output_of(other).bytes != first.bytes) found.push_back(how);
  };
  for (const Placement& placement : call_.placements()) compare(call_.run(executor_, placement), placement.name);
  for (const Split& split : call_.signature().splits) {
    for (int parts = 2; parts <= kMostThreads; ++parts) {
      const std::string how = fmt::format("cut by {} among {} threads", split.param, parts);
      compare(call_.run_parts(executor_, split, parts, {.at_once = true}), how);
    }
  }
  return found;
}

void set_number(Array& array, std::int64_t index, double value) {
  std::uint8_t* const at = array.bytes.data() + static_cast<std::size_t>(index) * dtype_size(array.dtype);
  const auto single = static_cast<float>(value);
  if (array.dtype == DType::f32) {
    std::memcpy(at, &single, sizeof single);
    return;
  }
  const std::uint16_t bits =
      array.dtype == DType::f16 ? reference::narrow<reference::Half>(single) : reference::narrow<reference::Bfloat>(single);
  std::memcpy(at, &bits, sizeof bits);
}

}  // namespace assay::order
