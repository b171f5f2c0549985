// What the headers of kernels say of calls that are refused, number by number, against the descriptions that the bench asks kernels by.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "reference/ops/find.h"
#include "reference/ops/op.h"

namespace assay::contract_refusals_test {
namespace {

// A call that is taken, with one of its numbers changed.
struct Row {
  const char* op;
  const char* field;
  double value;
  AssayStatus status;
};

constexpr double kInf = HUGE_VAL;
constexpr Row kRows[] = {
    {"rms_norm", "eps", 0x1p-126, ASSAY_OK},
    {"rms_norm", "eps", 0x1p-127, ASSAY_BAD_PARAMETER},
    {"rms_norm", "eps", 0, ASSAY_BAD_PARAMETER},
    {"rms_norm", "eps", -1e-6, ASSAY_BAD_PARAMETER},
    {"rms_norm", "eps", kInf, ASSAY_BAD_PARAMETER},
    {"argmax", "n", 0, ASSAY_BAD_SHAPE},
    {"rope", "rot_dim", 6, ASSAY_OK},
    {"rope", "rot_dim", 7, ASSAY_BAD_SHAPE},
    {"rope", "rot_dim", 10, ASSAY_BAD_SHAPE},
    {"rope", "components", 0, ASSAY_BAD_PARAMETER},
    {"rope", "pairing", 3, ASSAY_BAD_PARAMETER},
    {"rope", "pairing", -1, ASSAY_BAD_PARAMETER},
    {"rope_table", "recipe", -1, ASSAY_BAD_PARAMETER},
    {"rope_table", "recipe", 99, ASSAY_BAD_PARAMETER},
    {"rope_table", "theta", 1, ASSAY_OK},
    {"rope_table", "theta", 0.999, ASSAY_BAD_PARAMETER},
    {"rope_table", "theta", 0x1p40, ASSAY_OK},
    {"rope_table", "theta", 0x1p41, ASSAY_BAD_PARAMETER},
    {"kv_copy_f16", "src_row_stride", 7, ASSAY_BAD_SHAPE},
    {"kv_copy_f16", "dst_row_stride", 7, ASSAY_BAD_SHAPE},
    {"logits_copy_to_position", "dst_stride", 39, ASSAY_BAD_SHAPE},
    {"logits_copy_to_position", "position", -1, ASSAY_OUT_OF_RANGE},
    {"logits_copy_to_position", "position", 4, ASSAY_OK},
    {"logits_copy_to_position", "position", 5, ASSAY_OUT_OF_RANGE},
    {"kv_store_f16", "head_dim", 9, ASSAY_BAD_SHAPE},
    {"kv_store_f16", "position", -1, ASSAY_OUT_OF_RANGE},
    {"kv_store_f16", "position", 17, ASSAY_OK},
    {"kv_store_f16", "position", 18, ASSAY_OUT_OF_RANGE},
    {"kv_repack_f16", "positions", -1, ASSAY_OUT_OF_RANGE},
    {"kv_repack_f16", "positions", 4, ASSAY_OK},
    {"kv_repack_f16", "positions", 5, ASSAY_OUT_OF_RANGE},
    {"attn_decode_f16", "n_kv", 0, ASSAY_BAD_SHAPE},
    {"attn_decode_f16", "n_heads", 5, ASSAY_BAD_SHAPE},
    {"attn_decode_f16", "head_dim", 0, ASSAY_BAD_SHAPE},
    {"attn_decode_f16", "position", -1, ASSAY_BAD_SHAPE},
    {"attn_decode_f16", "rows", 2, ASSAY_BAD_SHAPE},
    {"attn_decode_f16", "scale", kInf, ASSAY_BAD_PARAMETER},
    {"attn_decode_f16", "window", -1, ASSAY_BAD_PARAMETER},
    {"attn_decode_f16", "window", 1, ASSAY_OK},
    {"gemm_q4_k_q8_k", "k", 257, ASSAY_BAD_SHAPE},
    {"gemv_q8_0_q8_0", "k", 33, ASSAY_BAD_SHAPE},
    {"gemv_q8_0_q8_0", "m", 2, ASSAY_BAD_SHAPE},
    {"linear_q6_k", "k", 257, ASSAY_BAD_SHAPE},
    {"encode_q8_0", "k", 33, ASSAY_BAD_SHAPE},
    {"encode_q8_0", "rows", 2, ASSAY_BAD_SHAPE},
    {"decode_q4_k", "k", 255, ASSAY_BAD_SHAPE},
    {"quantize_q8_k", "k", 257, ASSAY_BAD_SHAPE},
    {"pack_q8_0_x16", "k", 33, ASSAY_BAD_SHAPE},
};

Params taken(const std::string& op) {
  if (op == "rms_norm") return {{"rows", 2}, {"n", 8}, {"eps", 1e-6}};
  if (op == "rope") return {{"rows", 2}, {"heads", 2}, {"head_dim", 8}};
  if (op == "rope_table") return {{"rows", 2}, {"pairs", 4}};
  if (op == "kv_copy_f16") return {{"n_kv", 2}, {"positions", 3}, {"head_dim", 8}};
  if (op == "logits_copy_to_position") return {{"vocab", 40}, {"positions", 5}, {"position", 2}};
  if (op == "kv_store_f16") return {{"tokens", 3}, {"n_kv", 2}, {"head_dim", 8}, {"head_dim_padded", 8}, {"capacity", 20}};
  if (op == "kv_repack_f16") return {{"n_kv", 2}, {"row", 8}, {"positions", 3}, {"capacity_src", 4}, {"capacity_dst", 6}};
  if (op == "attn_decode_f16") return {{"n_kv", 2}, {"group", 2}, {"head_dim", 8}, {"length", 5}, {"causal", 1}};
  return {};
}

void set(const Field& field, double value, void* args) {
  std::byte* const at = static_cast<std::byte*>(args) + field.offset;
  const auto put = [&](auto number) { std::memcpy(at, &number, sizeof number); };
  switch (field.kind) {
    case FieldKind::real32:
      return put(static_cast<float>(value));
    case FieldKind::real64:
      return put(value);
    case FieldKind::choice:
    case FieldKind::int32:
      return put(static_cast<std::int32_t>(value));
    default:
      return put(static_cast<std::int64_t>(value));
  }
}

TEST(ContractRefusals, AreThoseOfTheDescriptions) {
  for (const Row& row : kRows) {
    const Op& op = require_op(row.op);
    const TestCase test = generated_test_case(op, {complete_params(op, taken(row.op)), "zeros", 1});
    Call call(op, test.params, test.inputs);
    call.place(call.placements().front());
    Arguments args(op, test.params, call.pointers());
    ASSERT_EQ(op.family->refusal(op, args.data()), ASSAY_OK) << row.op;
    const auto field = std::ranges::find(op.family->fields, std::string(row.field), &Field::name);
    ASSERT_NE(field, op.family->fields.end()) << row.op << " " << row.field;
    set(*field, row.value, args.data());
    EXPECT_EQ(op.family->refusal(op, args.data()), row.status) << row.op << ": " << row.field << " = " << row.value;
  }
}

}  // namespace
}  // namespace assay::contract_refusals_test
