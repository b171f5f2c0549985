// What the harness does with blocks: encoded outputs, messages, generated cases and the statuses that they require.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "harness/verdict/block_format.h"
#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/compare.h"
#include "harness/verdict/suite.h"
#include "reference/block_packing.h"
#include "reference/encode_k.h"

namespace assay::harness_blocks_test {
namespace {

Array blocks_of(DType dtype, std::int64_t count, const char* distribution, std::uint64_t seed) {
  Array array{dtype, {count}, std::vector<std::uint8_t>(static_cast<std::size_t>(count) * dtype_size(dtype))};
  generate({distribution}, seed, 0, dtype, count, array.bytes.data());
  return array;
}

// Blocks, and a source that they miss by one step in each of `misses` places.
reference::Encoding encoding_near(const Array& blocks, std::size_t misses) {
  std::vector<float> source = reference::decode(reference::Format::q6_k, blocks.bytes.data(), blocks.elements() * 256);
  for (std::size_t i = 0; i < misses; ++i) source[100 * i] += 0.25F;
  return reference::encoding_of(reference::Format::q6_k, source.data(), static_cast<std::int64_t>(source.size()));
}

TEST(Encoded, IsHeldToTheGoldensError) {
  const Array golden = blocks_of(DType::q6_k, 2, "blocks", 3);
  const reference::Encoding encoding = encoding_near(golden, 4);
  Kept kept;
  kept.values = golden;
  const Comparison same = compare_encoded(golden, encoding, &kept);
  EXPECT_EQ(same.compared, 2);
  EXPECT_DOUBLE_EQ(same.margin, 1 / 1.001);
  Array worse = golden;
  worse.bytes[192] = static_cast<std::uint8_t>(worse.bytes[192] + 3);  // the first scale
  const Comparison missed = compare_encoded(worse, encoding, &kept);
  EXPECT_GT(missed.margin, 1);
  EXPECT_NE(missed.note.find("the golden's"), std::string::npos) << missed.note;
  EXPECT_NE(missed.note.find("plain squared error"), std::string::npos) << missed.note;
  worse.bytes[209] = 0x7e;  // d is NaN
  EXPECT_TRUE(std::isinf(compare_encoded(worse, encoding, &kept).margin));
}

TEST(Encoded, WithoutAGoldenThePlainEncoderIsTheMeasure) {
  const Array blocks = blocks_of(DType::q6_k, 2, "blocks", 3);
  const reference::Encoding encoding = encoding_near(blocks, 4);
  const double error = reference::encoded_error(encoding, blocks.bytes.data()).weighted;
  EXPECT_DOUBLE_EQ(compare_encoded(blocks, encoding, nullptr).margin, error / (1.001 * encoding.fallback.weighted));
}

TEST(Encoded, WhatIsExactMustBeExact) {
  Array blocks = blocks_of(DType::q6_k, 1, "blocks", 4);
  const reference::Encoding encoding = encoding_near(blocks, 0);
  Kept kept;
  kept.values = blocks;
  EXPECT_EQ(compare_encoded(blocks, encoding, &kept).margin, 0);
  blocks.bytes[0] ^= 1;
  EXPECT_TRUE(std::isinf(compare_encoded(blocks, encoding, &kept).margin));
  blocks.bytes[209] = 0x7e;  // d is NaN
  EXPECT_TRUE(std::isinf(compare_encoded(blocks, encoding, &kept).margin));
}

TEST(BlockMessages, ADifferenceIsToldByItsByte) {
  const Array want = blocks_of(DType::q4_k, 3, "blocks", 5);
  Array got = want;
  got.bytes[144 + 17] ^= 0x40;
  Kept kept;
  kept.values = want;
  const Comparison found = compare_bytes(output("dst", DType::q4_k, {3}), got, kept, false);
  ASSERT_TRUE(found.worst.has_value());
  EXPECT_EQ(found.worst->index, 1);
  EXPECT_NE(found.worst->got.find("byte 17 of its 144"), std::string::npos) << found.worst->got;
}

TEST(BlockMessages, FieldsAreDecoded) {
  std::vector<std::uint8_t> block(20, 0);
  block[1] = 0x3c, block[3] = 0xc0, block[4] = 0x53;  // d = 1, m = -2, element 0 is 3, element 16 is 5
  EXPECT_EQ(describe_block(DType::q4_1, block.data(), 2), "d 1 m -2 codes 3 0 values 1 -2");
  EXPECT_NE(block_listing(DType::q4_1, block.data()).find("0..31"), std::string::npos);
  std::vector<std::uint8_t> rows(16 * 34, 0);
  rows[1] = 0x3c, rows[2] = 0xff;
  const auto packed = reference::pack_x16(reference::Format::q8_0, rows.data(), 16, 32);
  EXPECT_EQ(describe_block(DType::q8_0_x16, packed.data(), 1), "row 0: d 1 codes -1 values -1");
}

// Every op takes generated data of every kind that the user may ask for, packed weights included.
TEST(GeneratedBlocks, CasesOfEveryOpCanBeMade) {
  for (const Op* op : ops()) {
    for (const char* data : {"gauss", "bits", "wide", "zeros"}) {
      const TestCase test = generated_test_case(*op, {{}, data, 3});
      EXPECT_NO_THROW(Call(*op, test.params, test.inputs)) << op->name << " " << data;
    }
  }
}

TEST(GeneratedBlocks, StatusFollowsFromTheInputs) {
  const Params part{{"n", std::int64_t{100}}};
  const Params whole{{"n", std::int64_t{96}}};
  EXPECT_EQ(generated_test_case(require_op("encode_q4_0"), {part, "gauss", 1}).status, ASSAY_BAD_SHAPE);
  EXPECT_EQ(generated_test_case(require_op("encode_q4_0"), {whole, "gauss", 1}).status, ASSAY_OK);
  EXPECT_EQ(generated_test_case(require_op("encode_q4_0"), {whole, "bits", 1}).status, ASSAY_NOT_FINITE);
  EXPECT_EQ(generated_test_case(require_op("decode_q4_0"), {whole, "bits", 1}).status, ASSAY_OK);
}

}  // namespace
}  // namespace assay::harness_blocks_test
