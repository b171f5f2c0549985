// safetensors: the committed model, every element type, shards.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "engine/files/safetensors.h"
#include "tests/malformed/folder_image.h"
#include "tests/malformed/store.h"
#include "tests/temporary.h"

namespace assay::safetensors_test {
namespace {

using malformed::Bytes;

TEST(Safetensors, CommittedModel) {
  const SafetensorsFolder folder(std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "golden/models/kjv");
  ASSERT_EQ(folder.tensors().size(), 68U);
  const StoredTensor& first = folder.tensors().front();
  EXPECT_EQ(first.name, "model.embed_tokens.weight");
  EXPECT_EQ(first.dtype, DType::bf16);
  EXPECT_EQ(first.shape, (std::vector<std::int64_t>{4096, 256}));
  EXPECT_EQ(first.bytes.size(), 4096U * 256 * 2);
  const StoredTensor& last = folder.tensors().back();
  EXPECT_EQ(last.offset + last.bytes.size(), std::filesystem::file_size(last.file));
  for (std::size_t i = 1; i < folder.tensors().size(); ++i) {
    const StoredTensor& before = folder.tensors()[i - 1];
    EXPECT_EQ(folder.tensors()[i].offset, before.offset + before.bytes.size());
  }
}

TEST(Safetensors, EveryTypeAndShape) {
  // Spaces behind the header are the format's padding.
  const std::string header = R"({"b":{"dtype":"F16","shape":[3],"data_offsets":[16,22]},
    "a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},
    "none":{"dtype":"F32","shape":[0,7],"data_offsets":[22,22]},
    "bytes":{"dtype":"U8","shape":[1,2,1],"data_offsets":[22,24]},
    "c":{"dtype":"I64","shape":[],"data_offsets":[24,32]},
    "d":{"dtype":"F64","shape":[1],"data_offsets":[32,40]},
    "e":{"dtype":"I32","shape":[1],"data_offsets":[40,44]},
    "f":{"dtype":"BF16","shape":[2],"data_offsets":[44,48]}})";
  const Bytes file = malformed::safetensors_file(header + std::string((8 - header.size() % 8) % 8, ' '), 48);
  const auto tensors = parse_safetensors(file, "eight.safetensors");
  ASSERT_EQ(tensors.size(), 8U);
  const std::vector<std::string> names{"a", "b", "none", "bytes", "c", "d", "e", "f"};
  const std::vector<DType> dtypes{DType::f32, DType::f16, DType::f32, DType::u8, DType::i64, DType::f64, DType::i32, DType::bf16};
  const std::vector<std::vector<std::int64_t>> shapes{{2, 2}, {3}, {0, 7}, {1, 2, 1}, {}, {1}, {1}, {2}};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(tensors[i].name, names[i]);
    EXPECT_EQ(tensors[i].dtype, dtypes[i]);
    EXPECT_EQ(tensors[i].shape, shapes[i]);
    EXPECT_EQ(tensors[i].bytes.data(), file.data() + tensors[i].offset);
  }
}

// As MLX writes them: no metadata, and a header of any length.
TEST(Safetensors, DataThatDoNotLieAtAMultipleOfEightAreMoved) {
  for (std::size_t spaces = 0; spaces < 8; ++spaces) {
    const TemporaryFolder folder;
    const std::string header =
        R"({"__metadata__":null,"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})" + std::string(spaces, ' ');
    const Bytes file = malformed::safetensors_file(header, 16);
    std::ofstream(folder.path() / "model.safetensors", std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), std::ssize(file));
    const SafetensorsFolder read(folder.path());
    const StoredTensor& a = read.tensors().front();
    EXPECT_EQ(a.offset, 8 + header.size());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.bytes.data()) % 8, 0U);
    release_pages(a.bytes);
    EXPECT_TRUE(std::equal(a.bytes.begin(), a.bytes.end(), file.end() - 16)) << spaces;
  }
}

TEST(Safetensors, ShardsAreOneModel) {
  const TemporaryFolder temporary;
  const auto path = malformed::store({"shards", "", malformed::right_shards(), {}, "", ""}, temporary.path());
  const SafetensorsFolder folder(path);
  const auto whole_bytes = malformed::right_safetensors().build();
  const auto whole = parse_safetensors(whole_bytes, "whole");
  ASSERT_EQ(folder.tensors().size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(folder.tensors()[i].name, whole[i].name);
    EXPECT_EQ(folder.tensors()[i].shape, whole[i].shape);
    const bool second = whole[i].name.find("layers.1") != std::string::npos || whole[i].name == "model.norm.weight";
    EXPECT_EQ(folder.tensors()[i].file, (path / (second ? malformed::kSecondShard : malformed::kFirstShard)).string());
  }
}

TEST(Safetensors, SingleFileComesBeforeAnIndex) {
  const TemporaryFolder temporary;
  auto files = malformed::right_shards();
  files["model.safetensors"] = malformed::right_safetensors().build();
  const SafetensorsFolder folder(malformed::store({"both", "", files, {}, "", ""}, temporary.path()));
  EXPECT_TRUE(folder.name().ends_with("model.safetensors"));
}

// The one limit that a small file cannot show: the rest of this one is a hole.
TEST(Safetensors, HeaderOverTheLimit) {
  const TemporaryFolder temporary;
  const std::filesystem::path path = temporary.path() / "model.safetensors";
  for (const std::uint64_t length : {100'000'000, 100'000'001}) {
    Bytes start;
    malformed::put(start, length);
    malformed::put_text(start, "{");
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(start.data()), 9);
    std::filesystem::resize_file(path, 200'000'000);
    try {
      const SafetensorsFolder folder(temporary.path());
      ADD_FAILURE() << length;
    } catch (const ModelFileError& error) {
      EXPECT_EQ(error.fault(), length > 100'000'000 ? Fault::header_length : Fault::json) << error.what();
    }
  }
}

// Cut anywhere, a file is refused, and nothing is read beyond its end (the buffer is exact, for the sanitizer).
TEST(Safetensors, CutAnywhere) {
  const Bytes whole = malformed::right_safetensors().build();
  for (std::size_t length = 0; length < whole.size(); length += length < 4000 ? 1 : 97) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THROW(parse_safetensors(cut, "cut"), ModelFileError) << length;
  }
}

TEST(Safetensors, ChangedByteIsReadOrRefused) {
  const Bytes whole = malformed::right_safetensors().build();
  const std::size_t header = malformed::right_safetensors().header().size() + 8;
  int refused = 0;
  for (std::size_t at = 0; at < header; ++at) {
    for (const int change : {1, 4, 0x20, 0x80}) {
      Bytes changed = whole;
      changed[at] = static_cast<std::uint8_t>(changed[at] ^ change);
      try {
        EXPECT_EQ(parse_safetensors(changed, "changed").size(), 24U);
      } catch (const ModelFileError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace assay::safetensors_test
