// Golden files: the generator against its published answers, integrity, and refusal of what is damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "golden/manifest.h"
#include "golden/philox.h"
#include "golden/sha256.h"
#include "golden/store.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::golden_test {
namespace {

// Known answers of the Random123 distribution.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32_10({ones, ones, ones, ones}, {ones, ones}), (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Sha256, KnownAnswer) {
  const std::string text = "abc";
  EXPECT_EQ(sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Generate, GaussHasMeanZeroAndVarianceOne) {
  std::vector<double> values(100000);
  generate({"gauss"}, 3, 0, DType::f64, static_cast<std::int64_t>(values.size()), values.data());
  double sum = 0;
  double squares = 0;
  for (const double v : values) {
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

TEST(Generate, ElementsDoNotDependOnTheCount) {
  std::vector<float> few(5);
  std::vector<float> many(50);
  generate({"wide", 1, -3, 3}, 9, 2, DType::f32, 5, few.data());
  generate({"wide", 1, -3, 3}, 9, 2, DType::f32, 50, many.data());
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

// Scales in range, q8_k's sums those of its codes, no activation of -128: what golden/SCHEMA.md says of generated blocks.
TEST(Generate, BlocksAreSane) {
  constexpr std::int64_t count = 200;
  std::vector<std::uint8_t> q8_k(count * 292), q8_0(count * 34), q6_k(count * 210);
  generate({"blocks"}, 5, 1, DType::q8_k, count, q8_k.data());
  generate({"activations"}, 5, 1, DType::q8_0, count, q8_0.data());
  generate({"wide"}, 5, 1, DType::q6_k, count, q6_k.data());
  for (std::size_t b = 0; b < count; ++b) {
    float d = 0;
    std::memcpy(&d, &q8_k[b * 292], sizeof d);
    EXPECT_GE(std::fabs(d), 0x1p-12F);
    EXPECT_LT(std::fabs(d), 0x1p-4F);
    for (std::size_t j = 0; j < 16; ++j) {
      std::int16_t sum = 0;
      std::memcpy(&sum, &q8_k[b * 292 + 260 + 2 * j], sizeof sum);
      for (std::size_t i = 0; i < 16; ++i)
        sum = static_cast<std::int16_t>(sum - static_cast<std::int8_t>(q8_k[b * 292 + 4 + 16 * j + i]));
      EXPECT_EQ(sum, 0);
    }
    EXPECT_EQ(std::count(&q8_k[b * 292 + 4], &q8_k[b * 292 + 260], 0x80), 0);
    EXPECT_EQ(std::count(&q8_0[b * 34 + 2], &q8_0[b * 34 + 34], 0x80), 0);
    const double scale = std::fabs(element_as_double(DType::f16, &q6_k[b * 210 + 208]));
    EXPECT_TRUE(scale >= 0x1p-14 && std::isfinite(scale)) << scale;
  }
}

// A block takes whole words, so the bytes of one do not depend on its neighbours.
TEST(Generate, BlocksAreTheGeneratorsWords) {
  std::vector<std::uint8_t> two(2 * 18);
  generate({"bits"}, 7, 3, DType::q4_0, 2, two.data());
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t byte = 0; byte < 18; ++byte) {
      const std::size_t word = 5 * b + byte / 4;
      EXPECT_EQ(two[18 * b + byte], (philox_block(7, 3, word / 4)[word % 4] >> (8 * (byte % 4))) & 255);
    }
  }
}

TEST(Generate, WordsAreThoseOfTheBlocksHoweverManyAreMadeAtOnce) {
  constexpr std::uint64_t kSeed = 0x123456789abcdef0;
  std::vector<std::uint32_t> words(1001);
  generate({"bits"}, kSeed, 0xfffffffd, DType::f32, static_cast<std::int64_t>(words.size()), words.data());
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], philox_block(kSeed, 0xfffffffd, i / 4)[i % 4]) << i;
}

// As golden/record/generate.py makes them (--sums), in NumPy; a kept case is a seed, so that no byte may change.
TEST(Generate, TheSameBytesAsTheRecorders) {
  std::set<std::string> made;
  const auto rows =
      nlohmann::json::parse(std::ifstream(std::string(std::getenv("ASSAY_SOURCE_DIR")) + "/tests/generated_sums.json"));
  for (const auto& row : rows) {
    const Distribution distribution{row.at("distribution"), row.at("scale"), row.at("low"), row.at("high")};
    const DType dtype = dtype_from_name(row.at("dtype").get<std::string>()).value();
    const std::int64_t count = row.at("shape").at(0);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * dtype_size(dtype));
    generate(distribution, row.at("seed"), row.at("stream"), dtype, count, bytes.data());
    EXPECT_EQ(sha256(bytes), row.at("sha256")) << row;
    made.insert(distribution.name);
  }
  EXPECT_EQ(made.size(), distribution_names().size());
}

TEST(Generate, RefusesWhatATypeCannotHold) {
  std::int32_t integer = 0;
  float real = 0;
  EXPECT_THROW(generate({"gauss"}, 1, 0, DType::i32, 1, &integer), std::invalid_argument);
  EXPECT_THROW(generate({"index"}, 1, 0, DType::f32, 1, &real), std::invalid_argument);
  std::vector<std::uint8_t> packed(2304);
  EXPECT_THROW(generate({"gauss"}, 1, 0, DType::q4_k, 1, packed.data()), std::invalid_argument);
  EXPECT_THROW(generate({"blocks"}, 1, 0, DType::f32, 1, &real), std::invalid_argument);
  EXPECT_THROW(generate({"no_such"}, 1, 0, DType::f32, 1, &real), std::invalid_argument);
}

TEST(Manifest, EveryDataFileIsListedAndWhole) {
  const Manifest manifest(own_golden());
  ASSERT_FALSE(manifest.files().empty());
  for (const auto& [name, sum] : manifest.files()) EXPECT_TRUE(manifest.verify(own_golden() / name)) << name;
  for (const auto& path : golden_files(own_golden())) EXPECT_TRUE(manifest.verify(path)) << path << " is not in MANIFEST.json";
}

// A folder with one golden, and a manifest that lists its datasets as ours does but another sha256 for the whole.
struct ListedFile {
  explicit ListedFile(const std::string& name) : path(folder.path() / std::filesystem::path(name).filename()) {
    std::filesystem::copy_file(own_golden() / name, path);
    nlohmann::json json{{"schema", 1}};
    json["files"][path.filename().string()] = {{"sha256", std::string(64, '0')},
                                               {"datasets", Manifest(own_golden()).files().at(name).datasets}};
    std::ofstream(folder.path() / "MANIFEST.json") << json;
  }
  std::string complaint() const {
    return message_of([&] { Manifest(folder.path()).verify(path); });
  }

  TemporaryFolder folder;
  std::filesystem::path path;
};

TEST(Manifest, AChangedFileIsNamed) {
  const ListedFile text("texts/revelation-22.txt");
  expect_mentions(text.complaint(), {"revelation-22.txt", "MANIFEST.json says 000"});
}

TEST(Manifest, ListsEveryDatasetOfEveryFile) {
  const Manifest manifest(own_golden());
  for (const auto& [name, entry] : manifest.files()) {
    if (!name.ends_with(".h5")) continue;
    EXPECT_FALSE(entry.datasets.empty()) << name;
    if (name.starts_with("ops/") && name != "ops/add.h5") continue;  // one of a kind
    EXPECT_NE(ListedFile(name).complaint().find("no dataset differs"), std::string::npos) << ListedFile(name).complaint();
  }
}

TEST(Generator, AllOfTheSeedAndAllOfTheRangeCount) {
  std::int32_t small[100];
  std::int32_t large[100];
  generate({"index", 1, 5, 8}, 1, 0, DType::i32, 100, small);
  generate({"index", 1, 5, 8}, 1 + (std::uint64_t{1} << 32), 0, DType::i32, 100, large);
  EXPECT_FALSE(std::ranges::equal(small, large));
  EXPECT_EQ(*std::ranges::min_element(small), 5);
  EXPECT_EQ(*std::ranges::max_element(small), 7);
}

TEST(Manifest, AFlippedByteIsToldByFileAndDataset) {
  const ListedFile listed("ops/add.h5");
  const GoldenFile golden(listed.path);
  const std::string name = golden.case_names().at(1);
  const GoldenCase one = golden.read(name);
  const auto input = one.inputs.begin();
  std::string bytes = file_bytes(listed.path);
  const std::size_t at = bytes.find(std::string(input->second.bytes.begin(), input->second.bytes.end()));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 5] ^= 1;
  std::ofstream(listed.path) << bytes;
  expect_mentions(listed.complaint(), {"add.h5", "1 dataset differs: /cases/" + name + "/inputs/" + input->first});
}

TEST(GoldenFile, MissingAndForeignFilesAreNamed) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of([&] { GoldenFile(folder.path() / "none.h5"); }).find("no such file"), std::string::npos);
  std::ofstream(folder.path() / "text.h5") << "no HDF5";
  EXPECT_NE(message_of([&] { GoldenFile(folder.path() / "text.h5"); }).find("no HDF5 file"), std::string::npos);
  EXPECT_NE(message_of([&] { golden_files(folder.path() / "none"); }).find("no such folder"), std::string::npos);
}

TEST(GoldenFile, ATruncatedFileIsNamed) {
  const TemporaryFolder folder;
  const auto whole = own_golden() / "ops" / "add.h5";
  const auto cut = folder.path() / "add.h5";
  std::filesystem::copy_file(whole, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(whole) / 2);
  EXPECT_NE(message_of([&] { GoldenFile{cut}; }).find("add.h5"), std::string::npos);
}

// A file of a newer schema, made by changing that one attribute's value in a copy.
TEST(GoldenFile, ANewerSchemaIsRefusedByNumber) {
  const TemporaryFolder folder;
  const auto newer = folder.path() / "add.h5";
  std::filesystem::copy_file(own_golden() / "ops" / "add.h5", newer);
  set_integer_attribute(newer, "schema", 7);
  const std::string message = message_of([&] { GoldenFile{newer}; });
  EXPECT_NE(message.find("schema 7"), std::string::npos) << message;
  EXPECT_NE(message.find("reads up to 1"), std::string::npos) << message;
}

TEST(Params, MissingOnesAreNamed) {
  const Params params{{"n", std::int64_t{3}}, {"eps", 1e-6}};
  EXPECT_EQ(params.integer("n"), 3);
  EXPECT_EQ(params.real("n"), 3.0);
  EXPECT_NE(message_of([&] { static_cast<void>(params.integer("k")); }).find("'k'"), std::string::npos);
  EXPECT_EQ(params.to_string(), "eps=1e-06,n=3");
  EXPECT_EQ((Params{{"scale", 0.088388348}}.to_string()), "scale=0.088388348") << "as many digits as a float has";
}

}  // namespace
}  // namespace assay::golden_test
