// A model from either source: configuration, weights by role, vocabulary.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>

#include "engine/model/gguf_vocabulary.h"
#include "engine/model/model_file.h"
#include "engine/tokenizer/utf8.h"
#include "tests/malformed/folder_image.h"
#include "tests/malformed/gguf_image.h"
#include "tests/malformed/store.h"
#include "tests/temporary.h"

namespace assay::model_files_test {
namespace {

using malformed::Bytes;
using malformed::replaced;

std::filesystem::path models() {
  return std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "golden/models";
}

void expect_kjv(const ModelConfig& config) {
  EXPECT_EQ(config.name, "kjv");
  EXPECT_EQ(config.layers, 6);
  EXPECT_EQ(config.hidden, 256);
  EXPECT_EQ(config.heads, 4);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.q_width(), 512);
  EXPECT_EQ(config.kv_width(), 256);
  EXPECT_EQ(config.ffn, 768);
  EXPECT_EQ(config.vocab, 4096);
  EXPECT_EQ(config.max_positions, 4096);
  EXPECT_EQ(static_cast<float>(config.rms_eps), 1e-6F);
  EXPECT_EQ(config.rope_theta, 1e6);
  EXPECT_TRUE(config.tied);
}

TEST(ModelFiles, BothSourcesOfTheCommittedModelAgree) {
  const ModelFile gguf(models() / "kjv-Q4_K_M.gguf");
  const ModelFile folder(models() / "kjv");
  expect_kjv(gguf.config());
  expect_kjv(folder.config());
  EXPECT_EQ(folder.config().rms_eps, 1e-6);
  ASSERT_EQ(gguf.weights().all().size(), 68U);
  ASSERT_EQ(folder.weights().all().size(), 68U);
  std::set<std::string> sites;
  for (std::size_t i = 0; i < 68; ++i) {
    const Weight& a = gguf.weights().all()[i];
    const Weight& b = folder.weights().all()[i];
    EXPECT_EQ(a.site, b.site);
    EXPECT_EQ(std::pair(a.rows, a.cols), std::pair(b.rows, b.cols)) << a.site;
    EXPECT_EQ(b.dtype, DType::bf16);
    EXPECT_TRUE(sites.insert(a.site).second) << a.site;
    for (const Weight* weight : {&a, &b}) {
      const auto blocks = weight->rows * weight->cols / dtype_numbers(weight->dtype);
      EXPECT_EQ(weight->bytes.size(), static_cast<std::size_t>(blocks) * dtype_size(weight->dtype)) << weight->name;
    }
  }
}

TEST(ModelFiles, SitesNamesAndRoles) {
  const ModelFile gguf(models() / "kjv-Q4_K_M.gguf");
  const ModelFile folder(models() / "kjv");
  const Weight& down = gguf.weights().at(Role::down_proj, 4);
  EXPECT_EQ(down.site, "layers.04.down_proj");
  EXPECT_EQ(down.name, "blk.4.ffn_down.weight");
  EXPECT_EQ(std::pair(down.rows, down.cols), (std::pair<std::int64_t, std::int64_t>(256, 768)));
  EXPECT_EQ(folder.weights().at(Role::q_norm, 5).name, "model.layers.5.self_attn.q_norm.weight");
  EXPECT_EQ(folder.weights().at(Role::final_norm).site, "final_norm");
  EXPECT_EQ(folder.weights().at(Role::embed).site, "embed");
  EXPECT_EQ(&folder.weights().lm_head(), &folder.weights().at(Role::embed));
  EXPECT_THROW(folder.weights().at(Role::lm_head), std::out_of_range);
  EXPECT_THROW(folder.weights().at(Role::q_proj, 6), std::out_of_range);
  EXPECT_THROW(folder.weights().at(Role::q_proj), std::out_of_range);
  EXPECT_EQ(site_of(Role::attn_norm, 0), "layers.00.attn_norm");
  EXPECT_EQ(site_of(Role::attn_norm, 63), "layers.63.attn_norm");
  EXPECT_EQ(site_of(Role::lm_head, -1), "lm_head");
}

TEST(ModelFiles, TypesOfTheMix) {
  const ModelFile model(models() / "kjv-Q4_K_M.gguf");
  EXPECT_EQ(model.weights().at(Role::embed).dtype, DType::q6_k);
  // n = 6: n/8 = 0, so layers with i >= 7n/8 = 5 or i % 3 == 2 keep six bits in attn_v and ffn_down.
  for (std::int64_t layer = 0; layer < 6; ++layer) {
    const DType wide = layer >= 5 || layer % 3 == 2 ? DType::q6_k : DType::q4_k;
    EXPECT_EQ(model.weights().at(Role::v_proj, layer).dtype, wide) << layer;
    EXPECT_EQ(model.weights().at(Role::down_proj, layer).dtype, wide) << layer;
    EXPECT_EQ(model.weights().at(Role::q_proj, layer).dtype, DType::q4_k) << layer;
    EXPECT_EQ(model.weights().at(Role::ffn_norm, layer).dtype, DType::f32) << layer;
  }
}

TEST(ModelFiles, Vocabulary) {
  const ModelFile model(models() / "kjv-Q4_K_M.gguf");
  const Vocabulary vocabulary = model.vocabulary();
  EXPECT_EQ(vocabulary.tokens.size(), 4096U);
  EXPECT_EQ(vocabulary.merges.size(), 3808U);
  EXPECT_EQ(vocabulary.tokens.at(4066), "<|im_end|>");
  EXPECT_EQ(vocabulary.types.at(4066), TokenType::control);
  EXPECT_EQ(vocabulary.types.at(4095), TokenType::unused);
  EXPECT_EQ(vocabulary.eos, "<|im_end|>");
  const ModelFile folder(models() / "kjv");
  EXPECT_EQ(folder.vocabulary().tokens.size(), 4067U);
  EXPECT_EQ(folder.tokenizer_json(), models() / "kjv" / "tokenizer.json");
}

TEST(ModelFiles, ViewsSurviveAMove) {
  ModelFile model(models() / "kjv-Q4_K_M.gguf");
  const std::uint8_t* data = model.weights().at(Role::embed).bytes.data();
  const ModelFile moved(std::move(model));
  EXPECT_EQ(moved.weights().at(Role::embed).bytes.data(), data);
  EXPECT_EQ(moved.vocabulary().tokens.at(4066), "<|im_end|>");
  EXPECT_NE(moved.gguf()->find("general.name"), nullptr);
}

// The folder of the tests' small model with another config.json and, where given, other weights.
ModelConfig config_of(const TemporaryFolder& folder, const std::string& config) {
  auto files = malformed::right_folder();
  files["config.json"] = malformed::from_text(config);
  return ModelFile(malformed::store({"model", "", files, {}, "", ""}, folder.path())).config();
}

TEST(ModelFiles, ConfigOfBothGenerationsOfTransformers) {
  const TemporaryFolder folder;
  const std::string newer = malformed::right_config();
  EXPECT_EQ(config_of(folder, newer).rope_theta, 1e6);
  std::string older = replaced(newer, R"("rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"})",
                               R"("rope_theta": 5000000, "rope_scaling": null)");
  older = replaced(older, "\"dtype\"", "\"torch_dtype\"");
  older = replaced(older, R"("layer_types": ["full_attention", "full_attention"],)", "");
  EXPECT_EQ(config_of(folder, older).rope_theta, 5e6);
  EXPECT_EQ(config_of(folder, replaced(newer, "\"rope_parameters\"", "\"rope_theta\": 1000000, \"rope_parameters\"")).rope_theta,
            1e6);
}

TEST(ModelFiles, SeparateHead) {
  const TemporaryFolder folder;
  auto image = malformed::right_safetensors();
  const std::uint64_t end = image.build().size() - 8 - image.header().size();
  image.entries.push_back(
      {"lm_head.weight", "\"BF16\"", "[8,32]", "[" + std::to_string(end) + "," + std::to_string(end + 512) + "]", 512});
  auto files = malformed::right_folder();
  files["model.safetensors"] = image.build();
  // Tied and there all the same, as published files have it: checked, told, and not used.
  const ModelFile surplus(malformed::store({"surplus", "", files, {}, "", ""}, folder.path()));
  EXPECT_EQ(surplus.weights().all().size(), 24U);
  ASSERT_EQ(surplus.weights().surplus_head().size(), 1U);
  EXPECT_EQ(surplus.weights().surplus_head().front().name, "lm_head.weight");
  EXPECT_EQ(&surplus.weights().lm_head(), &surplus.weights().at(Role::embed));

  files["config.json"] = malformed::from_text(
      replaced(malformed::right_config(), "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false"));
  const ModelFile separate(malformed::store({"separate", "", files, {}, "", ""}, folder.path()));
  EXPECT_FALSE(separate.config().tied);
  EXPECT_EQ(separate.weights().all().size(), 25U);
  EXPECT_EQ(separate.weights().lm_head().name, "lm_head.weight");
  EXPECT_TRUE(separate.weights().surplus_head().empty());

  auto gguf = malformed::right_gguf();
  gguf.tensors.push_back({"output.weight", malformed::gguf_string("output.weight"), {}, {32, 8}, 8, {}, 8 * 34});
  const ModelFile output(malformed::store({"output", "", {{"model.gguf", gguf.build()}}, {}, "", ""}, folder.path()));
  EXPECT_FALSE(output.config().tied);
  EXPECT_EQ(output.weights().lm_head().dtype, DType::q8_0);
  EXPECT_EQ(output.weights().lm_head().site, "lm_head");
}

TEST(ModelFiles, Version2AndOtherIntegerTypesAreRead) {
  const TemporaryFolder folder;
  auto image = malformed::right_gguf();
  image.version = 2;
  image.set("qwen3.block_count", malformed::scalar<std::uint16_t>(malformed::kU16, 2));
  image.set("qwen3.rope.freq_base", malformed::scalar<double>(malformed::kF64, 5e6));
  image.set("qwen3.rope.scaling.type", malformed::text("none"));
  image.set("general.alignment", malformed::scalar<std::uint32_t>(malformed::kU32, 64));
  image.alignment = 64;
  const ModelFile model(malformed::store({"two", "", {{"model.gguf", image.build()}}, {}, "", ""}, folder.path()));
  EXPECT_EQ(model.gguf()->version, 2U);
  EXPECT_EQ(model.config().layers, 2);
  EXPECT_EQ(model.config().rope_theta, 5e6);
}

// All that opening a GGUF file does, on a buffer of exactly its size.
void load(const Bytes& bytes) {
  const GgufContents gguf = parse_gguf(bytes, "memory");
  const ModelConfig config = read_gguf_config(gguf, "memory");
  read_gguf_vocabulary(gguf, "memory");
  const WeightMap weights(config, gguf.tensors, WeightSource::gguf, "memory");
  EXPECT_FALSE(weights.all().empty());
}

TEST(ModelFiles, GgufCutAnywhere) {
  const Bytes whole = malformed::right_gguf().build();
  load(whole);
  for (std::size_t length = 0; length + 31 < whole.size(); length += length < 4000 ? 1 : 97) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THROW(load(cut), ModelFileError) << length;
  }
}

TEST(ModelFiles, GgufWithAChangedByteIsReadOrRefused) {
  const Bytes whole = malformed::right_gguf().build();
  int refused = 0;
  int read = 0;
  for (std::size_t at = 0; at < 2500; ++at) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      Bytes changed = whole;
      changed[at] = static_cast<std::uint8_t>(value);
      try {
        load(changed);
        ++read;
      } catch (const ModelFileError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 5000);
  EXPECT_GT(read, 0);
}

TEST(ModelFiles, Utf8) {
  for (const char* text : {"", "a", "\u00e9", "\u0120", "\u20ac", "\U0001f600", "\U0010ffff", "\ud7ff", "\ue000", "a\u00e9b"}) {
    EXPECT_TRUE(is_valid_utf8(text)) << text;
  }
  for (const char* text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2(\x82"}) {
    EXPECT_FALSE(is_valid_utf8(text)) << shown(text);
  }
}

}  // namespace
}  // namespace assay::model_files_test
