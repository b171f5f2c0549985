#include "harness/verdict/order_case.h"

#include <cstring>

#include "reference/arithmetic.h"
#include "reference/convert.h"

namespace assay {
namespace {

constexpr std::int64_t kColumns = 4096;
constexpr std::int64_t kRows = 48;

void set(Array& array, std::int64_t index, float value) {
  const std::size_t size = dtype_size(array.dtype);
  const std::uint16_t narrow =
      array.dtype == DType::f16 ? reference::narrow<reference::Half>(value) : reference::narrow<reference::Bfloat>(value);
  std::memcpy(&array.bytes[static_cast<std::size_t>(index) * size],
              size == sizeof value ? static_cast<const void*>(&value) : &narrow, size);
}

Array zeros(const TensorSpec& spec) {
  Array array{spec.dtype, spec.shape, {}};
  array.bytes.resize(static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype));
  return array;
}

TestCase named(TestCase test) {
  test.name = kOrder;
  test.drawn = true;
  test.repro = "--case order";
  return test;
}

}  // namespace

std::optional<TestCase> order_case(const Op& op) {
  const std::uint32_t has = op.family->declarable(op, {});
  if ((has & kSums) == 0 || (has & kLanes) == 0) return std::nullopt;
  if ((has & kProducts) == 0 || is_block(op.from)) return named(shape_test_case(op, complete_params(op, {})));
  TestCase test;
  test.params = complete_params(op, {{"n", kRows}, {"k", kColumns}});
  for (const TensorSpec& spec : signature_of(op, test.params).tensors) {
    if (spec.role == Direction::in) test.inputs.push_back(zeros(spec));
  }
  Array& w = test.inputs[0];
  Array& x = test.inputs[1];
  for (std::int64_t i = 0; i < x.elements(); ++i) set(x, i, 1);
  constexpr double kHalves[] = {0x1p-24, 0x1p-11, 0x1p-8};
  for (std::int64_t row = 0; row < kRows; ++row) {
    const std::int64_t places[] = {0, kColumns - 1, kColumns / 2, row * 977 % kColumns};
    const std::int64_t large = places[row / 3 % 4];
    for (std::int64_t c = 0; c < kColumns; ++c)
      set(w, (row / kTileRows * kColumns + c) * kTileRows + row % kTileRows,
          c == large ? 1.0F : static_cast<float>(kHalves[row % 3]));
  }
  return named(std::move(test));
}

}  // namespace assay
