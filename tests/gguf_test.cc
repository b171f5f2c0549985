// The GGUF reader on the committed model, and the writer against the reader.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "engine/files/gguf.h"
#include "engine/files/gguf_writer.h"
#include "tests/temporary.h"

namespace assay::gguf_test {
namespace {

std::filesystem::path models() {
  return std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "golden/models";
}

std::vector<std::uint8_t> pattern(std::size_t size, unsigned seed) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>((i * 31 + i / 256 + seed) & 255);
  return bytes;
}

bool same(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(GgufReader, CommittedModel) {
  const GgufFile file(models() / "kjv-Q4_K_M.gguf");
  const GgufContents& gguf = file.contents();
  EXPECT_EQ(gguf.version, 3U);
  EXPECT_EQ(gguf.alignment, 32U);
  EXPECT_EQ(gguf.metadata.size(), 22U);
  ASSERT_EQ(gguf.tensors.size(), 68U);
  ASSERT_NE(gguf.find("qwen3.block_count"), nullptr);
  EXPECT_EQ(gguf.find("qwen3.block_count")->element<std::uint32_t>(0), 6U);
  EXPECT_EQ(gguf.find("tokenizer.ggml.merges")->strings.at(1), "\u0120 th");
  EXPECT_EQ(gguf.find("tokenizer.ggml.tokens")->strings.size(), 4096U);
  EXPECT_EQ(gguf.find("none"), nullptr);
  EXPECT_EQ(gguf.tensors[0].name, "output_norm.weight");
  EXPECT_EQ(gguf.tensors[0].shape, (std::vector<std::int64_t>{256}));
  EXPECT_EQ(gguf.tensors[1].name, "token_embd.weight");
  EXPECT_EQ(gguf.tensors[1].dtype, DType::q6_k);
  EXPECT_EQ(gguf.tensors[1].shape, (std::vector<std::int64_t>{4096, 256}));
  EXPECT_EQ(gguf.tensors[1].bytes.size(), 4096U * 210);
  EXPECT_EQ(gguf.tensors[0].offset, gguf.data_offset);
  EXPECT_EQ(gguf.tensors[1].offset, gguf.data_offset + 1024);
}

// Every type of value, alone and in an array.
template <class T>
void add_both(GgufWriter& writer, const std::string& name, const std::vector<T>& values) {
  writer.add("test." + name, values.front());
  writer.add_array<T>("test.array." + name, values);
}

template <class T>
void expect_both(const GgufContents& gguf, const std::string& name, GgufType type, const std::vector<T>& values) {
  SCOPED_TRACE(name);
  const GgufValue* scalar = gguf.find("test." + name);
  const GgufValue* array = gguf.find("test.array." + name);
  ASSERT_TRUE(scalar != nullptr && array != nullptr);
  EXPECT_TRUE(scalar->type == type && !scalar->is_array && scalar->count == 1);
  EXPECT_EQ(scalar->element<T>(0), values.front());
  EXPECT_TRUE(array->type == type && array->is_array);
  ASSERT_EQ(array->count, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(array->element<T>(i), values[i]);
}

TEST(GgufWriter, EveryTypeOfValueComesBack) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "values.gguf";
  const auto infinity = std::numeric_limits<double>::infinity();
  GgufWriter writer(path);
  add_both<std::uint8_t>(writer, "u8", {255, 0, 7});
  add_both<std::int8_t>(writer, "i8", {-128, 127});
  add_both<std::uint16_t>(writer, "u16", {65535, 1});
  add_both<std::int16_t>(writer, "i16", {-32768, 32767});
  add_both<std::uint32_t>(writer, "u32", {UINT32_MAX, 2});
  add_both<std::int32_t>(writer, "i32", {INT32_MIN, INT32_MAX});
  add_both<float>(writer, "f32", {0.1F, -0.0F, 1e-45F});
  add_both<std::uint64_t>(writer, "u64", {UINT64_MAX, 3});
  add_both<std::int64_t>(writer, "i64", {INT64_MIN, INT64_MAX});
  add_both<double>(writer, "f64", {0.1, -infinity});
  writer.add("test.true", true);
  writer.add("test.false", false);
  const std::array<bool, 3> flags{true, false, true};
  writer.add_array<bool>("test.array.bool", flags);
  writer.add_string("test.string", std::string_view("with\0zero and \xff", 15));
  writer.add_string("test.empty", "");
  const std::vector<std::string_view> texts{"a", "", "\u0120the"};
  writer.add_strings("test.array.string", texts);
  writer.add_strings("test.array.none", {});
  writer.finish();

  const GgufFile file(path);
  const GgufContents& gguf = file.contents();
  expect_both<std::uint8_t>(gguf, "u8", GgufType::u8, {255, 0, 7});
  expect_both<std::int8_t>(gguf, "i8", GgufType::i8, {-128, 127});
  expect_both<std::uint16_t>(gguf, "u16", GgufType::u16, {65535, 1});
  expect_both<std::int16_t>(gguf, "i16", GgufType::i16, {-32768, 32767});
  expect_both<std::uint32_t>(gguf, "u32", GgufType::u32, {UINT32_MAX, 2});
  expect_both<std::int32_t>(gguf, "i32", GgufType::i32, {INT32_MIN, INT32_MAX});
  expect_both<float>(gguf, "f32", GgufType::f32, {0.1F, -0.0F, 1e-45F});
  expect_both<std::uint64_t>(gguf, "u64", GgufType::u64, {UINT64_MAX, 3});
  expect_both<std::int64_t>(gguf, "i64", GgufType::i64, {INT64_MIN, INT64_MAX});
  expect_both<double>(gguf, "f64", GgufType::f64, {0.1, -infinity});
  EXPECT_EQ(gguf.find("test.true")->type, GgufType::boolean);
  EXPECT_EQ(gguf.find("test.true")->bytes[0], 1);
  EXPECT_EQ(gguf.find("test.false")->bytes[0], 0);
  EXPECT_TRUE(same(gguf.find("test.array.bool")->bytes, std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(gguf.find("test.string")->strings.at(0), std::string_view("with\0zero and \xff", 15));
  EXPECT_EQ(gguf.find("test.empty")->strings.at(0), "");
  EXPECT_EQ(gguf.find("test.array.string")->strings, texts);
  EXPECT_EQ(gguf.find("test.array.none")->count, 0U);
  EXPECT_EQ(gguf.metadata.front().key, "test.u8");
  EXPECT_EQ(gguf.metadata.back().key, "test.array.none");
}

TEST(GgufWriter, EveryTypeOfTensorComesBackAtEveryAlignment) {
  const TemporaryFolder folder;
  const std::vector<DType> dtypes{DType::f32,  DType::f16,  DType::bf16, DType::q4_0, DType::q4_1, DType::q5_0,
                                  DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k};
  for (const std::uint32_t alignment : {8U, 32U, 64U, 4096U, 1U << 20}) {
    SCOPED_TRACE(alignment);
    const std::filesystem::path path = folder.path() / ("tensors" + std::to_string(alignment));
    GgufWriter writer(path, alignment);
    for (const DType dtype : dtypes) {
      writer.declare(dtype_name(dtype), dtype, std::vector<std::int64_t>{3, 256});
      writer.declare(std::string(dtype_name(dtype)) + ".of_four", dtype, std::vector<std::int64_t>{2, 1, 3, 512});
    }
    writer.begin();
    // All in one stream of pieces that end where no tensor does.
    std::vector<std::uint8_t> stream;
    for (const DType dtype : dtypes) {
      const std::size_t row = 256 / static_cast<std::size_t>(dtype_numbers(dtype)) * dtype_size(dtype);
      for (const auto& bytes : {pattern(3 * row, 1), pattern(12 * row, 2)})
        stream.insert(stream.end(), bytes.begin(), bytes.end());
    }
    for (std::size_t at = 0; at < stream.size(); at += 1001) {
      writer.write(std::span(stream).subspan(at, std::min<std::size_t>(1001, stream.size() - at)));
    }
    writer.finish();

    const GgufFile file(path);
    EXPECT_EQ(file.contents().alignment, alignment);
    ASSERT_EQ(file.contents().tensors.size(), 2 * dtypes.size());
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      const StoredTensor& two = file.contents().tensors[2 * i];
      const StoredTensor& four = file.contents().tensors[2 * i + 1];
      SCOPED_TRACE(two.name);
      EXPECT_EQ(two.dtype, dtypes[i]);
      EXPECT_EQ(two.name, dtype_name(dtypes[i]));
      EXPECT_EQ(two.shape, (std::vector<std::int64_t>{3, 256}));
      EXPECT_EQ(four.shape, (std::vector<std::int64_t>{2, 1, 3, 512}));
      EXPECT_TRUE(same(two.bytes, pattern(two.bytes.size(), 1)));
      EXPECT_TRUE(same(four.bytes, pattern(four.bytes.size(), 2)));
      EXPECT_EQ(two.offset % alignment, 0U);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(two.bytes.data()) % dtype_alignment(dtypes[i]), 0U);
    }
  }
}

TEST(GgufWriter, CopyOfTheCommittedModelHasItsBytes) {
  const TemporaryFolder folder;
  const GgufFile original(models() / "kjv-Q4_K_M.gguf");
  const std::filesystem::path path = folder.path() / "copy.gguf";
  GgufWriter writer(path);
  for (const GgufValue& value : original.contents().metadata) writer.add_value(value);
  for (const StoredTensor& tensor : original.contents().tensors) writer.declare(tensor.name, tensor.dtype, tensor.shape);
  writer.begin();
  for (const StoredTensor& tensor : original.contents().tensors) writer.write(tensor.bytes);
  writer.finish();
  const MappedFile a(models() / "kjv-Q4_K_M.gguf");
  const MappedFile b(path);
  EXPECT_TRUE(same(a.bytes(), b.bytes())) << "llama.cpp's file and ours differ";
}

TEST(GgufWriter, RefusesWhatTheReaderWould) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "refused.gguf";
  using Shape = std::vector<std::int64_t>;
  EXPECT_THROW(GgufWriter(path, 48), std::logic_error);
  EXPECT_THROW(GgufWriter(path, 4), std::logic_error);
  {
    GgufWriter writer(path);
    writer.add("key", 1U);
    EXPECT_THROW(writer.add("key", 2U), std::logic_error);
    EXPECT_THROW(writer.add("", 2U), std::logic_error);
    EXPECT_THROW(writer.add("a b", 2U), std::logic_error);
    writer.declare("tensor", DType::q4_k, Shape{2, 256});
    EXPECT_THROW(writer.declare("tensor", DType::f32, Shape{1}), std::logic_error);
    EXPECT_THROW(writer.declare(std::string(64, 'x'), DType::f32, Shape{1}), std::logic_error);
    EXPECT_THROW(writer.declare("none", DType::f32, Shape{}), std::logic_error);
    EXPECT_THROW(writer.declare("zero", DType::f32, Shape{0}), std::logic_error);
    EXPECT_THROW(writer.declare("five", DType::f32, Shape{1, 1, 1, 1, 1}), std::logic_error);
    EXPECT_THROW(writer.declare("cut", DType::q4_k, Shape{2, 255}), std::logic_error);
    EXPECT_THROW(writer.declare("packed", DType::q4_k_x16, Shape{16, 256}), std::logic_error);
    EXPECT_THROW(writer.declare("huge", DType::f32, Shape{INT64_MAX, 4}), std::logic_error);
    EXPECT_THROW(writer.write(pattern(1, 0)), std::logic_error);
    writer.begin();
    EXPECT_THROW(writer.add("late", 1U), std::logic_error);
    EXPECT_THROW(writer.declare("late", DType::f32, Shape{1}), std::logic_error);
    writer.write(pattern(2 * 144 - 1, 0));
    EXPECT_THROW(writer.finish(), std::logic_error);
    EXPECT_THROW(writer.write(pattern(2, 0)), std::logic_error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "an unfinished file was left behind";
  EXPECT_THROW(GgufWriter(folder.path() / "none" / "file"), std::runtime_error);
}

}  // namespace
}  // namespace assay::gguf_test
