// What an engine refuses, how it says so, and that it can go on afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

#include "engine/files/file_error.h"
#include "engine/run/generate.h"
#include "tests/engine_support.h"
#include "tests/malformed/folder_image.h"
#include "tests/malformed/store.h"
#include "tests/refusals.h"

namespace assay::engine_errors_test {
namespace {

EngineOptions short_context(std::int64_t context, int threads = 2) {
  EngineOptions options;
  options.threads = threads;
  options.plan.context = context;
  options.plan.all_logits = true;
  return options;
}

TEST(EngineErrors, ATokenOutsideTheVocabularyChangesNothing) {
  const ModelFile model(test_model("bf16-folder"));
  const std::vector<std::int32_t> tokens = prompt_tokens("psalm", 12);
  Engine plain(model, short_context(40));
  const auto expected = logits_of_all(plain, tokens, 6);
  Engine engine(model, short_context(40));
  const std::span<const std::int32_t> all(tokens);
  engine.feed(all.first(6));
  for (const std::int32_t wrong :
       {-1, 4096, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
    const std::int32_t bad[] = {1, 2, wrong};
    const std::string message = message_of<std::out_of_range>([&] { engine.feed(bad); });
    expect_mentions(message, {"token 2 is ", std::to_string(wrong).c_str(), "0 .. 4095"});
    EXPECT_EQ(engine.length(), 6);
  }
  engine.feed(all.last(6), Logits::all);
  EXPECT_EQ(0, std::memcmp(engine.logits().data(), expected.data() + std::ptrdiff_t{6} * 4096, engine.logits().size_bytes()));
}

TEST(EngineErrors, AContextThatIsFullChangesNothing) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  const std::vector<std::int32_t> tokens = prompt_tokens("psalm", 12);
  for (const char* const kv : {"contiguous", "grow", "chunks", "paged", "reserved", "ring"}) {
    EngineOptions options = short_context(10);
    options.plan.kv_policy = kv;
    Engine engine(model, options);
    const std::span<const std::int32_t> all(tokens);
    const auto expected = logits_of_all(engine, all.first(10), 10);
    engine.reset();
    EXPECT_EQ(engine.length(), 0);
    expect_mentions(message_of<KvExhausted>([&] { engine.feed(all); }), {kv, "12", "10"});
    EXPECT_EQ(engine.length(), 0);
    engine.feed(all.first(8));
    message_of<KvExhausted>([&] { engine.feed(all.subspan(8, 3)); });
    EXPECT_EQ(engine.length(), 8);
    engine.feed(all.subspan(8, 2), Logits::all);
    EXPECT_EQ(0, std::memcmp(engine.logits().data(), expected.data() + std::ptrdiff_t{8} * 4096, engine.logits().size_bytes()));
    engine.reset();
    EXPECT_EQ(logits_of_all(engine, all.first(10), 10), expected) << kv;
  }
}

TEST(EngineErrors, GenerateRefusesWhatHasNoRoom) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  Engine engine(model, short_context(10));
  const std::vector<std::int32_t> tokens = prompt_tokens("psalm", 12);
  EXPECT_THROW(generate(engine, {{}, 5, {}, {}, nullptr, nullptr}), std::invalid_argument);
  expect_mentions(message_of<std::invalid_argument>([&] {
                    generate(engine, {tokens, 5, {}, {}, nullptr, nullptr});
                  }),
                  {"12 tokens", "room for 10"});
  const std::span<const std::int32_t> all(tokens);
  const Generated out = generate(engine, {all.first(8), 50, {}, {}, nullptr, nullptr});
  EXPECT_EQ(out.ended, Ended::context);
  EXPECT_EQ(out.tokens.size(), 3U) << "the last token needs no room: it is not fed";
  EXPECT_EQ(engine.length(), 10);
}

// What an observer throws comes out, whatever the other threads were doing, and the sequence can be begun anew.
TEST(EngineErrors, AnObserversExceptionComesOut) {
  class Throwing final : public Observer {
   public:
    bool wants(const Step& step) const override { return step.site == "layers.04.attn"; }
    void after(const StepRun&) override { throw std::runtime_error("enough"); }
  };
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  const std::vector<std::int32_t> tokens = prompt_tokens("psalm", 12);
  for (const int threads : {1, 2, 3}) {
    Engine engine(model, short_context(20, threads));
    const auto expected = logits_of_all(engine, tokens, 12);
    engine.reset();
    Throwing observer;
    EXPECT_EQ(message_of<std::runtime_error>([&] { engine.feed(tokens, Logits::last, &observer); }), "enough");
    engine.reset();
    EXPECT_EQ(logits_of_all(engine, tokens, 12), expected);
  }
}

// A file of that type in which two bytes of a tensor, `skip` bytes from its beginning, are an f16 NaN.
std::filesystem::path with_nan(const TemporaryFolder& folder, const std::string& type, Role role, std::int64_t layer,
                               std::int64_t skip) {
  std::filesystem::path out = folder.path() / (type + "-nan.gguf");
  std::filesystem::copy_file(test_model(type), out, std::filesystem::copy_options::overwrite_existing);
  const std::uint64_t offset = ModelFile(out).weights().at(role, layer).offset;
  std::fstream file(out, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset) + skip);
  file.write("\x00\x7e", 2);
  return out;
}

TEST(EngineErrors, ANanIsRefusedByTheFirstStepThatTakesNone) {
  const TemporaryFolder folder;
  const ModelFile model(with_nan(folder, "q8_0", Role::up_proj, 2, 3 * (256 / 32) * 34));
  const std::vector<std::int32_t> tokens = prompt_tokens("psalm", 9);
  for (const int threads : {1, 2}) {
    Engine engine(model, short_context(40, threads));
    expect_mentions(message_of<EngineError>([&] { engine.feed(tokens); }),
                    {"layers.02.swiglu.quant", "quantize_q8_0", "tokens 0 .. 8", "not_finite"});
    engine.reset();
    expect_mentions(message_of<EngineError>([&] {
                      engine.feed({tokens.data(), 1});
                    }),
                    {"layers.02.swiglu.quant", "tokens 0 .. 0", "not_finite"});
  }
}

// Where no step refuses a NaN, the sampler does.
TEST(EngineErrors, NanLogitsAreNotSampled) {
  const TemporaryFolder folder;
  const ModelFile model(with_nan(folder, "f16", Role::up_proj, 2, 3 * 256 * 2));
  Engine engine(model, short_context(40));
  const std::vector<std::int32_t> tokens = prompt_tokens("psalm", 9);
  expect_mentions(message_of<EngineError>([&] {
                    generate(engine, {tokens, 5, {}, {}, nullptr, nullptr});
                  }),
                  {"sampling", "a logit is NaN"});
}

TEST(EngineErrors, LogitsThatThePlanHasNoRoomForAreRefused) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  EngineOptions options = short_context(20);
  options.plan.all_logits = false;
  Engine engine(model, options);
  const std::vector<std::int32_t> tokens = prompt_tokens("psalm", 9);
  EXPECT_THROW(engine.feed(tokens, Logits::all), std::logic_error);
  EXPECT_EQ(engine.length(), 0);
  engine.feed(tokens, Logits::none);
  EXPECT_TRUE(engine.logits().empty());
}

// Published files of tied models hold the head a second time. It is not used; so it must be the embedding.
TEST(EngineErrors, ASecondCopyOfTheHeadMustBeTheEmbedding) {
  const TemporaryFolder folder;
  auto image = malformed::right_safetensors();
  const std::uint64_t end = image.build().size() - 8 - image.header().size();
  image.entries.push_back(
      {"lm_head.weight", "\"BF16\"", "[8,32]", "[" + std::to_string(end) + "," + std::to_string(end + 512) + "]", 512});
  auto files = malformed::right_folder();
  malformed::Bytes& file = files["model.safetensors"] = image.build();
  const std::string offsets = image.entry("model.embed_tokens.weight").offsets;  // "[0,512]"
  const auto embed = file.end() - static_cast<std::ptrdiff_t>(end + 512) + std::stoll(offsets.substr(1));
  std::copy(embed, embed + 512, file.end() - 512);
  const ModelFile same(malformed::store({"same", "", files, {}, "", ""}, folder.path()));
  ASSERT_EQ(same.weights().surplus_head().size(), 1U);
  EXPECT_NO_THROW(Engine(same, short_context(4)));
  file.back() ^= 1;
  const ModelFile other(malformed::store({"other", "", files, {}, "", ""}, folder.path()));
  expect_mentions(message_of<ModelFileError>([&] { Engine(other, short_context(4)); }),
                  {"model.safetensors", "lm_head.weight", "tied", "unexpected-tensor"});
}

}  // namespace
}  // namespace assay::engine_errors_test
