// `synth`: a file that the loader takes, a tokenizer that works, weights of the size that was asked for.
#include "engine/convert/synth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/convert/known_shapes.h"
#include "engine/convert/random_rows.h"
#include "engine/convert/synth_vocabulary.h"
#include "engine/model/model_file.h"
#include "engine/tokenizer/tokenizer.h"
#include "reference/ops/find.h"
#include "tests/temporary.h"

namespace assay::synth_test {
namespace {

TEST(SynthVocabulary, AtFullSizeSpecialTokensHaveQwen3sIds) {
  const TokenizerMetadata made = synth_tokenizer(151936);
  ASSERT_EQ(made.vocabulary.tokens.size(), 151936U);
  EXPECT_EQ(made.vocabulary.merges.size(), 151643U - 256U);
  EXPECT_EQ(made.padding, 151643);
  EXPECT_EQ(made.eos, 151645);
  const Tokenizer tokenizer(made.vocabulary);
  EXPECT_EQ(tokenizer.id_of("<|endoftext|>"), 151643);
  EXPECT_EQ(tokenizer.id_of("<|im_end|>"), 151645);
  EXPECT_EQ(tokenizer.id_of("</think>"), 151668);
  EXPECT_EQ(made.vocabulary.types[151669], TokenType::unused);
}

TEST(SynthVocabulary, TextGoesThereAndBack) {
  for (const std::int64_t rows : {kLeastSynthRows, std::int64_t{4096}, std::int64_t{151936}, kMostSynthRows}) {
    const Tokenizer tokenizer(synth_tokenizer(rows).vocabulary);
    const std::string text = "In the beginning, 3 men of Ünïcödé\n\tand <|im_start|>user: 数";
    const auto ids = tokenizer.encode(text);
    EXPECT_EQ(tokenizer.decode(ids), text) << rows;
    EXPECT_LT(ids.size(), text.size()) << rows;  // something was merged
  }
  EXPECT_THROW(synth_tokenizer(kLeastSynthRows - 1), std::invalid_argument);
  EXPECT_THROW(synth_tokenizer(kMostSynthRows + 1), std::invalid_argument);
}

void decode(DType dtype, const std::vector<std::uint8_t>& bytes, std::vector<float>& out) {
  if (is_block(dtype)) {
    const CodecArgs args{bytes.data(), out.data(), 1, std::ssize(out), 0, 0};
    ASSERT_EQ(select_kernel(*codec_op(CodecForm::decode, dtype).table).run(&args), ASSAY_OK);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(element_as_double(dtype, bytes.data() + i * dtype_size(dtype)));
  }
}

// Over 64 rows of 4096 the mean is within 6 of its standard errors, the deviation within 2 %.
TEST(RandomRows, MeanAndDeviationAreThoseAskedFor) {
  constexpr std::int64_t cols = 4096;
  constexpr std::int64_t rows = 64;
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::q4_0, DType::q5_0, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k}) {
    const RandomMatrix matrix{dtype, cols, 0.02, 0, 7, 3};
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(cols / dtype_numbers(dtype)) * dtype_size(dtype));
    std::vector<float> values(cols);
    double sum = 0;
    double squares = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      random_row(matrix, row, bytes);
      decode(dtype, bytes, values);
      for (const float v : values) {
        sum += v;
        squares += static_cast<double>(v) * v;
      }
    }
    const double count = cols * rows;
    EXPECT_LT(std::fabs(sum / count), 6 * 0.02 / std::sqrt(count)) << dtype_name(dtype);
    EXPECT_NEAR(std::sqrt(squares / count), 0.02, 0.0004) << dtype_name(dtype);
  }
}

TEST(Synth, TheLoaderTakesItAndSeedAloneDecidesTheBytes) {
  const TemporaryFolder folder;
  ModelConfig config = known_shape("qwen3-0.6b");
  config.vocab = 4096;
  config.layers = 2;
  const auto make = [&](const char* name, std::uint64_t seed, int threads) {
    auto out = folder.path() / name;
    synthesize({config, &find_target("q4_k_m"), out, seed, threads, {}});
    return out;
  };
  const auto first = make("first.gguf", 1, 1);
  const ModelFile model(first);
  EXPECT_EQ(model.config().hidden, 1024);
  EXPECT_EQ(model.config().q_width(), 2048);
  EXPECT_EQ(model.config().layers, 2);
  EXPECT_EQ(model.config().vocab, 4096);
  EXPECT_EQ(model.weights().lm_head().dtype, DType::q6_k);
  EXPECT_EQ(model.weights().at(Role::q_proj, 0).dtype, DType::q4_k);
  EXPECT_TRUE(file_bytes(first) == file_bytes(make("again.gguf", 1, 3)));
  EXPECT_FALSE(file_bytes(first) == file_bytes(make("other.gguf", 2, 1)));
  EXPECT_THROW(known_shape("qwen3-0.7b"), std::invalid_argument);
}

}  // namespace
}  // namespace assay::synth_test
