// Blocks misread, or codes with another offset.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/forensics/explain/block_edits.h"
#include "harness/forensics/explain/hypothesis.h"
#include "harness/verdict/block_format.h"
#include "reference/block_packing.h"

namespace assay::why {
namespace {

// The blocks of a tensor, rows of them, as plain ones; packed rows are opened and closed again.
Array edited(const Array& array, const Edit& edit) {
  const DType plain = plain_dtype(array.dtype);
  const Fields& fields = *fields_of(plain);
  const std::int64_t blocks = array.shape.back();
  const std::int64_t k = blocks * dtype_numbers(plain);
  Array out = array;
  const std::int64_t rows = array.elements() / std::max<std::int64_t>(blocks, 1) * (is_packed(array.dtype) ? kPackedRows : 1);
  if (is_packed(array.dtype)) out.bytes = reference::unpack_x16(plain, array.bytes.data(), rows, k);
  const std::vector<std::uint8_t> old = out.bytes;
  const std::size_t size = dtype_size(plain);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      const auto at = [&](std::int64_t other) { return &old[static_cast<std::size_t>(row * blocks + other) * size]; };
      Bytes const to = &out.bytes[static_cast<std::size_t>(row * blocks + block) * size];
      edit.make(fields, to, at(std::min(block + 1, blocks - 1)), at(std::max<std::int64_t>(block - 1, 0)), at(0));
      renew_derived(plain, to);
    }
  }
  if (is_packed(array.dtype)) out.bytes = reference::pack_x16(plain, out.bytes.data(), rows, k);
  return out;
}

// What stays where codes are all 0 is their offset; of codes without their negative ones, what 256 is added to.
void zero_codes(const Fields& f, Bytes b, Old, Old, Old) {
  std::memset(b + f.codes, 0, static_cast<std::size_t>(f.code_bytes));
  std::memset(b + f.high, 0, static_cast<std::size_t>(f.high_bytes));
}
void one_where_negative(const Fields& f, Bytes b, Old, Old, Old) {
  for (int i = 0; i < f.code_bytes; ++i) b[f.codes + i] = b[f.codes + i] > 127 ? 1 : 0;
}
bool is_centred(const Fields& f) {
  return f.dtype == DType::q4_0 || f.dtype == DType::q5_0 || f.dtype == DType::q6_k;
}
bool is_q5_0(const Fields& f) {
  return f.dtype == DType::q5_0;
}
bool is_q8_0(const Fields& f) {
  return f.dtype == DType::q8_0;
}

// Results with so many times more of what an edited input gives.
struct Offset {
  Edit edit;
  double times;
  double by_offset = 0;  // or this, over the format's offset
};
constexpr Offset kOffsets[] = {
    {{"offset-left-out", "nibbles", "the offset of codes is left out", is_centred, zero_codes}, -1},
    {{"offset-of-q4_0", "nibbles", "8 is taken off codes, not 16", is_q5_0, zero_codes}, -0.5},
    {{"offset-one-less", "nibbles", "the offset of codes is one less", is_centred, zero_codes}, 0, -1},
    {{"offset-one-more", "nibbles", "the offset of codes is one more", is_centred, zero_codes}, 0, 1},
    {{"codes-unsigned", "sign", "codes are taken for numbers without a sign", is_q8_0, one_where_negative}, 256}};

double offset_of(DType dtype) {
  return dtype == DType::q4_0 ? 8 : dtype == DType::q5_0 ? 16 : 32;
}

std::optional<Prediction> with_offset(const Op& op, std::size_t input, const Offset& offset, const Evidence& one) {
  std::vector<Array> inputs = one.call->inputs;
  const double per = offset.by_offset / offset_of(plain_dtype(inputs[input].dtype));
  const double times = offset.by_offset == 0 ? offset.times : per;
  inputs[input] = edited(inputs[input], offset.edit);
  const auto part = reference_of(op, one.params, inputs, one);
  if (!part || part->outputs[0].value.empty()) return std::nullopt;
  Prediction said{one.call->expected, {}};
  for (std::size_t o = 0; o < said.outputs.size(); ++o) {
    reference::Expected& out = said.outputs[o];
    for (std::size_t i = 0; i < out.value.size(); ++i) {
      out.value[i] += times * part->outputs[o].value[i];
      out.bound[i] += std::fabs(times) * part->outputs[o].bound[i] + 0x1p-22 * std::fabs(out.value[i]);
    }
  }
  return said;
}

}  // namespace

void add_blocks(const Op& op, Cases cases, Hypotheses& all) {
  const auto specs = cases.front().inputs();
  for (std::size_t input = 0; input < specs.size(); ++input) {
    const Fields* const fields = fields_of(plain_dtype(specs[input]->dtype));
    if (fields == nullptr) continue;
    for (const Edit& edit : block_edits()) {
      if (!edit.concerns(*fields)) continue;
      all.push_back({fmt::format("{}:{}", edit.name, specs[input]->name), edit.kind,
                     fmt::format("blocks of {}: {}", specs[input]->name, edit.words), Law::equation, 2,
                     [&op, input, &edit](const Evidence& one) -> std::optional<Prediction> {
                       std::vector<Array> inputs = one.call->inputs;
                       inputs[input] = edited(inputs[input], edit);
                       if (inputs[input].bytes == one.call->inputs[input].bytes) return std::nullopt;
                       return reference_of(op, one.params, inputs, one);
                     }});
    }
    for (const Offset& offset : kOffsets) {
      if (!offset.edit.concerns(*fields)) continue;
      all.push_back({fmt::format("{}:{}", offset.edit.name, specs[input]->name), offset.edit.kind,
                     fmt::format("blocks of {}: {}", specs[input]->name, offset.edit.words), Law::equation, 2,
                     [&op, input, &offset](const Evidence& one) { return with_offset(op, input, offset, one); }});
    }
  }
}

}  // namespace assay::why
