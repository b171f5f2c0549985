// The descriptions of ops: field tables that cover their structs, look-ups by type, and the reference in the place of a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "reference/ops/find.h"
#include "reference/ops/op.h"

namespace assay::ops_test {
namespace {

std::size_t bytes_of(FieldKind kind) {
  return kind == FieldKind::choice || kind == FieldKind::int32 || kind == FieldKind::real32 ? 4 : 8;
}

// No field overlaps another, and between them and behind them there is no more than padding.
TEST(Ops, FieldTablesCoverTheirStructs) {
  for (const Op* op : ops()) {
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (const Field& field : op->family->fields) places.emplace_back(field.offset, bytes_of(field.kind));
    std::ranges::sort(places);
    std::size_t end = 0;
    for (const auto& [offset, size] : places) {
      EXPECT_EQ(offset, (end + size - 1) / size * size) << op->name;
      end = offset + size;
    }
    EXPECT_EQ(op->family->args_bytes, (end + 7) / 8 * 8) << op->name;
  }
}

TEST(Ops, ACopyOfArgumentsPointsToItsOwnArrays) {
  const Op& op = attention_op(AttentionForm::decode, DType::f16);
  const Params params = op.family->bias_case(op).params;
  const std::vector<void*> tensors(signature_of(op, params).tensors.size(), nullptr);
  const Arguments first(op, params, tensors);
  const Arguments copy = first;
  ASSERT_EQ(copy.arrays().size(), 1U);
  const auto spans = [](const Arguments& args) { return static_cast<const AttentionArgs*>(args.data())->spans; };
  EXPECT_EQ(static_cast<const void*>(spans(copy)), copy.arrays()[0].bytes.data());
  EXPECT_NE(spans(copy), spans(first));
  EXPECT_EQ(spans(copy)[0].count, 100);
}

const TensorSpec& tensor(const Signature& signature, const std::string& name) {
  return *std::ranges::find(signature.tensors, name, &TensorSpec::name);
}

// A row of one head is followed by the next row of it, in the queries or in the outputs.
TEST(Ops, HeadsLieOutermostWhereRowsLieWithinThem) {
  const Op& op = attention_op(AttentionForm::prefill, DType::f16);
  const Params plain{{"rows", 3}, {"n_kv", 2}, {"group", 2}, {"head_dim", 8}, {"length", 9}, {"causal", 1}};
  for (const char* const name : {"q", "y"}) {
    Params params = plain;
    params.set(std::string(name) + "_row_stride", std::int64_t{8});
    const Signature signature = signature_of(op, complete_params(op, params));
    for (const char* const other : {"q", "y"}) {
      const bool changed = std::string(name) == other;
      EXPECT_EQ(tensor(signature, other).strides, (std::vector<std::int64_t>{changed ? 8 : 32, changed ? 24 : 8, 1}))
          << name << other;
    }
  }
}

TEST(Ops, RopeMayRunInPlaceWhereSomeIsCopied) {
  const Op& op = the_op("rope");
  for (const std::int64_t rot_dim : {8, 6}) {
    const Params params{{"rows", 2}, {"heads", 2}, {"head_dim", 8}, {"rot_dim", rot_dim}};
    EXPECT_EQ(tensor(signature_of(op, complete_params(op, params)), "y").aliases, std::vector<std::string>{"x"}) << rot_dim;
  }
}

TEST(Ops, AreFoundByTheirTypes) {
  for (const Op* op : ops()) {
    if (is_product(*op)) {
      EXPECT_EQ(&product_op(product_form(*op), op->from, op->to), op);
    }
    if (std::string(op->name).starts_with("pack_")) {
      EXPECT_EQ(find_pack(op->from), op);
    }
    EXPECT_EQ(&the_op(op->name), op);
  }
  EXPECT_STREQ(pack_op(PackForm::unpack, DType::q4_k_x16).name, "unpack_q4_k_x16");
  EXPECT_STREQ(pack_op(PackForm::pack, DType::f16).name, "pack_tile_f16");
  EXPECT_STREQ(codec_op(CodecForm::quantize, DType::q8_k).name, "quantize_q8_k");
  EXPECT_STREQ(codec_op(CodecForm::decode, DType::q5_1).name, "decode_q5_1");
  EXPECT_STREQ(embed_op(DType::bf16).name, "embed_bf16");
  EXPECT_STREQ(convert_op(DType::f32, DType::bf16).name, "convert_f32_bf16");
  EXPECT_STREQ(kv_op(KvForm::repack, DType::f16).name, "kv_repack_f16");
  EXPECT_STREQ(attention_op(AttentionForm::prefill, DType::f32).name, "attn_prefill_f32");
  EXPECT_EQ(find_pack(DType::q5_k), nullptr);
  EXPECT_EQ(find_product(ProductForm::linear, DType::f16, DType::f32), nullptr);
  EXPECT_THROW((void)codec_op(CodecForm::encode, DType::q8_k), std::invalid_argument);
  EXPECT_THROW((void)embed_op(DType::q4_0), std::invalid_argument);
  EXPECT_THROW((void)the_op("rms_norms"), std::invalid_argument);
}

TEST(Ops, AMissingProductListsThoseThatExist) {
  try {
    (void)product_op(ProductForm::gemm, DType::q4_k, DType::q8_0);
    FAIL() << "q4_k x q8_0 has no kernel";
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("no gemm of weights x activations q4_k x q8_0"), std::string::npos) << message;
    for (const char* pair : {"q4_k x q8_k", "q4_k x f32", "q4_k_x16 x q8_k", "f16 x f32", "q5_0 x q8_0"}) {
      EXPECT_NE(message.find(pair), std::string::npos) << pair << " is not in: " << message;
    }
  }
  EXPECT_EQ(dtype_from_name("q4_k_x8"), std::nullopt);
  EXPECT_EQ(dtype_from_name("q8_1"), std::nullopt);
}

const Placement kFront{"at the front", false, {}, Poison::Kind::nans};

// Where a scalar kernel writes, the reference writes: the same bytes if the op is exact.
TEST(RunReference, WritesWhereAKernelWrites) {
  for (const Op* op : ops()) {
    if (op->contract->exactness == reference::Exactness::encoded) continue;
    for (const std::uint64_t seed : {3U, 4U, 5U}) {
      const TestCase test = generated_test_case(*op, {{}, "gauss", seed});
      Call call(*op, test.params, test.inputs);
      call.place(kFront);
      ASSERT_EQ(run_reference(*op, Arguments(*op, test.params, call.pointers()).data(), nullptr), test.status) << test.name;
      if (test.status != ASSAY_OK) continue;
      const Array truth = gather(call.signature().tensors.back(), call.pointers().back());
      InProcess scalar(op->kernels().back().run);
      const Array written = call.run(scalar, kFront).outputs.back();
      if (op->contract->exactness == reference::Exactness::exact) {
        EXPECT_EQ(written.bytes, truth.bytes) << op->name << " " << test.name;
        continue;
      }
      for (std::int64_t i = 0; i < truth.elements(); ++i) {
        ASSERT_NEAR(written.as<float>()[i], truth.as<float>()[i], 0.02F + 0.02F * std::abs(truth.as<float>()[i]))
            << op->name << " " << test.name << " at " << i;
      }
    }
  }
}

TEST(RunReference, KeepsTruthAndBoundOfEachFloat) {
  const Op& op = the_op("rms_norm");
  const TestCase test = generated_test_case(op, {{{"rows", 3}, {"n", 20}, {"y_stride", 24}, {"eps", 1e-6}}, "gauss", 7});
  Call call(op, test.params, test.inputs);
  call.place(kFront);
  const auto* y = static_cast<const float*>(call.pointers().back());
  ReferenceSink sink;
  sink.reset(y, call.signature().tensors.back().extent());
  ASSERT_EQ(run_reference(op, Arguments(op, test.params, call.pointers()).data(), &sink), ASSAY_OK);
  for (std::size_t at = 0; at < sink.value.size(); ++at) {
    const bool gap = at % 24 >= 20;
    EXPECT_EQ(sink.bound[at] > 0, !gap) << at;
    EXPECT_EQ(static_cast<float>(sink.value[at]) == y[at], !gap) << at;
  }
}

// What a definition refuses has the status that a kernel gives it.
TEST(RunReference, RefusesWhatItsDefinitionRefuses) {
  const Op& op = embed_op(DType::f32);
  const float table[2] = {1, 2};
  const std::int32_t id = 2;
  float y = 0;
  const EmbedArgs args{table, &id, &y, 2, 1, 1, 1};
  EXPECT_EQ(run_reference(op, &args, nullptr), ASSAY_OUT_OF_RANGE);
  const KvStoreArgs store{table, &y, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(run_reference(kv_op(KvForm::store, DType::f32), &store, nullptr), ASSAY_OUT_OF_RANGE);
  EXPECT_EQ(y, 0);
}

}  // namespace
}  // namespace assay::ops_test
