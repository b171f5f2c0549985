// `quantize`: tensor bytes equal to llama.cpp's where formulas are closed, types and order as its mix has them, metadata that
// reads back as it was, refusals.
#include "engine/convert/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include <nlohmann/json.hpp>
#include "engine/convert/encode_rows.h"
#include "engine/files/file_error.h"
#include "engine/model/model_file.h"
#include "golden/sha256.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::quantize_test {
namespace {

std::filesystem::path models() {
  return own_golden() / "models";
}

std::filesystem::path quantized(const TemporaryFolder& folder, const std::filesystem::path& in, const std::string& type,
                                int threads = 2) {
  std::filesystem::path out = folder.path() / (type + "-" + std::to_string(threads) + ".gguf");
  quantize({in, out, &find_target(type), threads, {}});
  return out;
}

// The file's tensors have the names, types and sums that `sums` lists, and no others.
void expect_sums(const std::filesystem::path& file, const std::filesystem::path& sums) {
  std::ifstream in(sums);
  const nlohmann::json expected = nlohmann::json::parse(in).at("tensors");
  const GgufFile gguf(file);
  EXPECT_EQ(gguf.contents().tensors.size(), expected.size());
  for (const StoredTensor& tensor : gguf.contents().tensors) {
    ASSERT_TRUE(expected.contains(tensor.name)) << tensor.name;
    EXPECT_EQ(dtype_name(tensor.dtype), expected[tensor.name].at("type").get<std::string>()) << tensor.name;
    EXPECT_EQ(sha256(tensor.bytes), expected[tensor.name].at("sha256").get<std::string>()) << tensor.name;
  }
}

TEST(Quantize, F16AndQ80HaveTheBytesOfLlamaCpps) {
  const TemporaryFolder folder;
  expect_sums(quantized(folder, models() / "kjv", "f16"), models() / "kjv-f16.sha256.json");
  expect_sums(quantized(folder, models() / "kjv", "q8_0"), models() / "kjv-Q8_0.sha256.json");
  expect_sums(quantized(folder, models() / "tiny-a-f16.gguf", "q8_0"), models() / "tiny-a-Q8_0.sha256.json");
}

TEST(Quantize, TheMixAndTheOrderAreLlamaCpps) {
  const TemporaryFolder folder;
  const GgufFile ours(quantized(folder, models() / "kjv", "q4_k_m"));
  const GgufFile theirs(models() / "kjv-Q4_K_M.gguf");
  const auto& a = ours.contents().tensors;
  const auto& b = theirs.contents().tensors;
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].dtype, b[i].dtype) << a[i].name;
    EXPECT_EQ(a[i].shape, b[i].shape) << a[i].name;
  }
}

// 28 layers: 0 to 2 and 24 to 27, and from 5 to 23 every third.
TEST(Quantize, LayersOfTheMixThatHaveMoreBits) {
  const Target& mix = find_target("q4_k_m");
  std::vector<std::int64_t> wide;
  for (std::int64_t layer = 0; layer < 28; ++layer) {
    if (target_type(mix, Role::down_proj, layer, 28, true) == DType::q6_k) wide.push_back(layer);
    EXPECT_EQ(target_type(mix, Role::up_proj, layer, 28, true), DType::q4_k);
    EXPECT_EQ(target_type(mix, Role::attn_norm, layer, 28, true), DType::f32);
  }
  EXPECT_EQ(wide, (std::vector<std::int64_t>{0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 24, 25, 26, 27}));
  EXPECT_EQ(target_type(mix, Role::embed, -1, 28, true), DType::q6_k);
  EXPECT_EQ(target_type(mix, Role::embed, -1, 28, false), DType::q4_k);
  EXPECT_EQ(target_type(mix, Role::lm_head, -1, 28, false), DType::q6_k);
}

TEST(Quantize, EveryTypeIsWrittenAndThreadsChangeNoByte) {
  const TemporaryFolder folder;
  for (const Target& target : targets()) {
    const auto one = quantized(folder, models() / "kjv", std::string(target.name), 1);
    const auto three = quantized(folder, models() / "kjv", std::string(target.name), 3);
    EXPECT_TRUE(file_bytes(one) == file_bytes(three)) << target.name;
    EXPECT_EQ(ModelFile(one).weights().lm_head().dtype, target_type(target, Role::embed, -1, 6, true)) << target.name;
    std::filesystem::remove(one);
    std::filesystem::remove(three);
  }
}

void expect_integer(const GgufContents& gguf, const char* key, std::uint32_t expected) {
  const GgufValue* value = gguf.find(key);
  ASSERT_NE(value, nullptr) << key;
  EXPECT_EQ(value->element<std::uint32_t>(0), expected) << key;
}

TEST(Quantize, ConfigurationAndTokenizerReadBackAsTheyWere) {
  const TemporaryFolder folder;
  const ModelFile source(models() / "kjv");
  const ModelFile made(quantized(folder, models() / "kjv", "q4_k_m"));
  EXPECT_EQ(made.config().name, "kjv");
  EXPECT_EQ(made.config().layers, source.config().layers);
  EXPECT_EQ(made.config().ffn, source.config().ffn);
  EXPECT_EQ(made.config().max_positions, source.config().max_positions);
  EXPECT_EQ(made.config().rope_theta, source.config().rope_theta);
  EXPECT_EQ(made.config().rms_eps, static_cast<double>(static_cast<float>(source.config().rms_eps)));
  EXPECT_TRUE(made.config().tied);
  const Vocabulary a = source.vocabulary();
  const Vocabulary b = made.vocabulary();
  ASSERT_EQ(b.tokens.size(), 4096U);
  EXPECT_TRUE(std::equal(a.tokens.begin(), a.tokens.end(), b.tokens.begin()));
  EXPECT_TRUE(std::equal(a.types.begin(), a.types.end(), b.types.begin()));
  EXPECT_EQ(a.merges, b.merges);
  EXPECT_EQ(a.eos, b.eos);
  EXPECT_EQ(b.tokens.back(), "[PAD4095]");
  EXPECT_EQ(b.types.back(), TokenType::unused);
  expect_integer(*made.gguf(), "general.file_type", 15);
  expect_integer(*made.gguf(), "tokenizer.ggml.eos_token_id", 4066);
  expect_integer(*made.gguf(), "tokenizer.ggml.padding_token_id", 4064);
  EXPECT_TRUE(made.gguf()->find("tokenizer.chat_template")->strings.front().starts_with("{%- for message in messages %}"));
}

// What llama.cpp's own file says stays, key by key, but for the type of the file.
TEST(Quantize, MetadataOfGgufIsKept) {
  const TemporaryFolder folder;
  const GgufFile source(models() / "tiny-a-f16.gguf");
  const GgufFile made(quantized(folder, models() / "tiny-a-f16.gguf", "q6_k"));
  for (const GgufValue& value : source.contents().metadata) {
    if (value.key == "general.file_type" || value.key == "general.quantization_version") continue;
    const GgufValue* kept = made.contents().find(value.key);
    ASSERT_NE(kept, nullptr) << value.key;
    EXPECT_TRUE(std::equal(value.bytes.begin(), value.bytes.end(), kept->bytes.begin(), kept->bytes.end())) << value.key;
  }
  expect_integer(made.contents(), "general.file_type", 18);
}

TEST(Quantize, Refusals) {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out.gguf";
  EXPECT_NE(message_of([] { find_target("q5_1"); }).find("no kernel multiplies by weights of type q5_1"), std::string::npos);
  EXPECT_NE(message_of([] { find_target("q9"); }).find("unknown type q9; expected one of f32, f16, bf16"), std::string::npos);
  const std::string again = message_of([&] { quantize({models() / "kjv-Q4_K_M.gguf", out, &find_target("q8_0"), 1, {}}); });
  EXPECT_NE(again.find("quantised weights are not quantised again [tensor-type]"), std::string::npos) << again;
  EXPECT_FALSE(std::filesystem::exists(out));
  // A NaN in row 3 of one weight.
  const auto damaged = quantized(folder, models() / "kjv", "f16");
  std::uint64_t offset = 0;
  {
    const ModelFile model(damaged);
    offset = model.weights().at(Role::up_proj, 2).offset + 3 * 256 * 2 + 2 * 7;
  }
  std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write("\x00\x7e", 2);
  file.close();
  const std::string nan = message_of([&] { quantize({damaged, out, &find_target("q4_k"), 2, {}}); });
  EXPECT_NE(nan.find("tensor 'blk.2.ffn_up.weight': row 3: element 7 is nan"), std::string::npos) << nan;
  EXPECT_FALSE(std::filesystem::exists(out));
}

// Encodes a row of numbers that are all `value`.
void encode_row(float value, DType to) {
  const std::vector<float> row(256, value);
  std::vector<std::uint8_t> out(static_cast<std::size_t>(256 / dtype_numbers(to)) * dtype_size(to));
  Team alone(1);
  encode_rows(DType::f32, to, 1, 256, {reinterpret_cast<const std::uint8_t*>(row.data()), row.size() * 4}, out, alone);
}

TEST(EncodeRows, NumbersBeyondTheTypeAreRefused) {
  EXPECT_NO_THROW(encode_row(65519.0F, DType::f16));
  EXPECT_ANY_THROW(encode_row(65520.0F, DType::f16));
  EXPECT_NO_THROW(encode_row(std::numeric_limits<float>::max(), DType::f32));
  EXPECT_NO_THROW(encode_row(0x1.fep127F, DType::bf16));
  EXPECT_ANY_THROW(encode_row(std::numeric_limits<float>::max(), DType::bf16));
  EXPECT_ANY_THROW(encode_row(std::numeric_limits<float>::infinity(), DType::f32));
  expect_mentions(message_of([] { encode_row(1e30F, DType::q8_0); }), {"a scale leaves the range of f16"});
}

}  // namespace
}  // namespace assay::quantize_test
