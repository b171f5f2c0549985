// The references of decoding, encoding and packing blocks, by hand: the goldens hold them to the formats' source.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "golden/generate.h"
#include "reference/block_packing.h"
#include "reference/encode.h"
#include "reference/encode_k.h"

namespace assay::reference::reference_codecs_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

constexpr Format kFormats[] = {Format::q4_0, Format::q4_1, Format::q5_0, Format::q5_1, Format::q8_0,
                               Format::q4_k, Format::q5_k, Format::q6_k, Format::q8_k};

Bytes generated(Format format, const char* distribution, std::uint64_t seed, std::int64_t blocks) {
  Bytes bytes(static_cast<std::size_t>(blocks * block_bytes(format)));
  generate({distribution}, seed, 0, format, blocks, bytes.data());
  return bytes;
}

Floats gaussian(std::uint64_t seed, std::int64_t count) {
  Floats values(static_cast<std::size_t>(count));
  generate({"gauss"}, seed, 0, DType::f32, count, values.data());
  return values;
}

// A packed type is sixteen rows of its plain type, and every name leads back to its type.
TEST(Formats, PackedTypesAreSixteenRows) {
  for (const DTypeInfo& row : kDTypes) {
    const auto dtype = dtype_from_name(row.name);
    ASSERT_TRUE(dtype.has_value()) << row.name;
    EXPECT_EQ(dtype_name(*dtype), row.name);
    if (!is_packed(*dtype)) continue;
    EXPECT_EQ(packed_dtype(row.plain), dtype) << row.name;
    EXPECT_EQ(row.size, kPackedRows * dtype_size(row.plain)) << row.name;
    EXPECT_EQ(row.numbers, dtype_numbers(row.plain)) << row.name;
  }
}

// The blocks that the references read are those of the tensors' types.
TEST(Formats, AgreeWithTheTypesOfTensors) {
  for (const Format format : kFormats) {
    EXPECT_EQ(info(format).format, format);
    EXPECT_EQ(block_bytes(format), static_cast<std::int64_t>(dtype_size(format))) << dtype_name(format);
    const Block block = read_block(format, Bytes(dtype_size(format)).data());
    EXPECT_EQ(block.elements, dtype_numbers(format)) << dtype_name(format);
  }
  EXPECT_THROW((void)info(DType::q4_k_x16), std::invalid_argument);
}

TEST(Decode, FieldsByHand) {
  Bytes q4_0(18, 0);
  q4_0[1] = 0x40, q4_0[2] = 0xf0;  // d = 2, byte 0: element 0 is 0, element 16 is 15
  const Floats values = decode(Format::q4_0, q4_0.data(), 32);
  EXPECT_EQ(values[0], -16);
  EXPECT_EQ(values[16], 14);
  Bytes q6_k(210, 0);
  q6_k[209] = 0x3c, q6_k[192 + 1] = 0xff, q6_k[16] = 0x0f, q6_k[128 + 16] = 0x03;  // d = 1, scale 1 is -1, element 16 is 63
  EXPECT_EQ(decode(Format::q6_k, q6_k.data(), 256)[16], -31);
  Bytes q4_k(144, 0);
  q4_k[1] = q4_k[3] = 0x3c;
  q4_k[4 + 8] = 0x21, q4_k[4 + 0] = 0x40, q4_k[4 + 4] = 0x80;  // sub-block 4: scale 1 | 1 << 4, minimum 2 | 2 << 4
  const Block block = read_block(Format::q4_k, q4_k.data());
  EXPECT_EQ(block.scale[128], 17);
  EXPECT_EQ(block.min[128], 34);
  EXPECT_EQ(block.value(128), -34);
}

// What blocks decode to, encoded again, decodes to the same: the formulas and the layouts are each other's inverse.
TEST(Encode, DecodedBlocksComeBack) {
  for (const Format format : {Format::q4_0, Format::q5_0, Format::q8_0}) {
    Bytes block(static_cast<std::size_t>(block_bytes(format)), 0x80);
    block[0] = 0x00, block[1] = 0x34;  // d = 1/4
    for (std::size_t i = 2; i < block.size(); ++i) block[i] = static_cast<std::uint8_t>(block[i] + 7 * i);
    if (format == Format::q8_0) block[5] = 0x7f;
    if (format != Format::q8_0) block.back() = 0x00;
    if (format == Format::q5_0) block[2 + 1] = block[2 + 3] = 0x00;
    const Floats values = decode(format, block.data(), 32);
    EXPECT_EQ(encode(format, Rounding::away, values.data(), 32), block) << dtype_name(format);
  }
}

TEST(Encode, RoundingsDiffer) {
  Floats x(32, 0.0F);
  x[0] = 127, x[1] = 2.5F, x[2] = -3.5F, x[3] = 0.5F;
  const Bytes away = encode(Format::q8_0, Rounding::away, x.data(), 32);
  const Bytes even = encode(Format::q8_0, Rounding::nearest_even, x.data(), 32);
  EXPECT_EQ(static_cast<std::int8_t>(away[3]), 3);
  EXPECT_EQ(static_cast<std::int8_t>(even[3]), 2);
  EXPECT_EQ(static_cast<std::int8_t>(away[4]), -4);
  EXPECT_EQ(static_cast<std::int8_t>(even[4]), -4);
  EXPECT_EQ(static_cast<std::int8_t>(even[5]), 0);
}

TEST(Encode, RefusesWhatHasNoScale) {
  for (const Format format : kFormats) {
    Floats x = gaussian(4, 256);
    EXPECT_EQ(encode_status(format, x.data(), 256), ASSAY_OK) << dtype_name(format);
    x[200] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(encode_status(format, x.data(), 256), ASSAY_NOT_FINITE) << dtype_name(format);
    x[200] = 1e30F;  // d = 1e28: q8_k's is f32
    EXPECT_EQ(encode_status(format, x.data(), 256), format == Format::q8_k ? ASSAY_OK : ASSAY_NOT_FINITE) << dtype_name(format);
  }
}

TEST(EncodeK, ErrorIsThatOfTheDecodedBlocks) {
  for (const Format format : {Format::q4_k, Format::q5_k, Format::q6_k}) {
    const Bytes blocks = generated(format, "blocks", 13, 2);
    const Floats values = decode(format, blocks.data(), 512);
    EXPECT_EQ(encoded_error(encoding_of(format, values.data(), 512), blocks.data()).weighted, 0) << dtype_name(format);
    Floats moved = values;
    moved[300] += 1;
    const Encoding encoding = encoding_of(format, moved.data(), 512);
    const double step = static_cast<double>(moved[300]) - static_cast<double>(values[300]);
    EXPECT_DOUBLE_EQ(encoded_error(encoding, blocks.data()).plain, step * step);
    EXPECT_DOUBLE_EQ(encoded_error(encoding, blocks.data()).weighted, step * step * encoding.weight[300]);
    EXPECT_GT(encoding.fallback.weighted, 0);
  }
}

TEST(Packing, RoundTripsAndPadsWithZeros) {
  for (const Format format : {Format::q4_k, Format::q6_k, Format::q8_0}) {
    constexpr std::int64_t n = 21, columns = 3;
    const std::int64_t k = columns * dtype_numbers(format);
    const Bytes rows = generated(format, "bits", 17, n * columns);
    const Bytes packed = pack_x16(format, rows.data(), n, k);
    EXPECT_EQ(packed.size(), static_cast<std::size_t>(32 * columns * block_bytes(format)));
    EXPECT_EQ(unpack_x16(format, packed.data(), n, k), rows) << dtype_name(format);
    const Bytes all = unpack_x16(format, packed.data(), 32, k);
    EXPECT_TRUE(std::all_of(all.begin() + static_cast<std::ptrdiff_t>(rows.size()), all.end(), [](auto b) { return b == 0; }));
  }
}

// One byte of each field, at the place that kernels/formats/packed.h gives it.
TEST(Packing, BytesByHand) {
  struct Place {
    Format format;
    std::size_t plain, packed;  // of row 5
  };
  constexpr Place places[] = {{Format::q4_k, 2, 32 + 2 * 5},
                              {Format::q4_k, 4 + 4 * 2 + 1, 64 + 64 * 2 + 4 * 5 + 1},
                              {Format::q4_k, 16 + 4 * 31 + 3, 256 + 64 * 31 + 4 * 5 + 3},
                              {Format::q8_0, 1, 2 * 5 + 1},
                              {Format::q8_0, 2 + 4 * 7 + 2, 32 + 64 * 7 + 4 * 5 + 2},
                              {Format::q6_k, 208, 2 * 5},
                              {Format::q6_k, 192 + 4 * 3, 32 + 64 * 3 + 4 * 5},
                              {Format::q6_k, 64 + 4 * 6 + 1, 288 + 192 * 14 + 4 * 5 + 1},
                              {Format::q6_k, 32 + 4 * 7, 288 + 192 * 7 + 64 + 4 * 5},
                              {Format::q6_k, 128 + 32 + 4 * 2 + 3, 288 + 192 * 10 + 128 + 4 * 5 + 3}};
  for (const Place& place : places) {
    const auto size = static_cast<std::size_t>(block_bytes(place.format));
    Bytes rows(16 * size);
    rows[5 * size + place.plain] = 0xa5;
    const Bytes packed = pack_x16(place.format, rows.data(), 16, dtype_numbers(place.format));
    EXPECT_EQ(packed[place.packed], 0xa5) << dtype_name(place.format) << " byte " << place.plain;
    EXPECT_EQ(std::count(packed.begin(), packed.end(), 0), static_cast<std::ptrdiff_t>(packed.size() - 1));
  }
}

}  // namespace
}  // namespace assay::reference::reference_codecs_test
