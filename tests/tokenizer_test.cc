// The tokenizer against Hugging Face's `tokenizers`, as golden/tokenizer holds its answers; its refusals; its stages.
#include "engine/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/chat.h"
#include "engine/tokenizer/normalise.h"
#include "engine/tokenizer/tokenizer_json.h"
#include "golden/hdf5.h"
#include "harness/suite.h"
#include "tests/temporary.h"

namespace assay {
namespace {

std::filesystem::path kjv() { return own_golden() / "models" / "kjv"; }

const Tokenizer& kjv_tokenizer() {
  static const Tokenizer tokenizer(vocabulary_from_tokenizer_json(kjv() / "tokenizer.json"));
  return tokenizer;
}

// The goldens of this tree, and the one that ASSAY_TOKENIZER_GOLDEN names.
std::vector<std::filesystem::path> goldens() {
  std::vector<std::filesystem::path> files{own_golden() / "tokenizer" / "kjv.h5", own_golden() / "tokenizer" / "kjv_unicode.h5"};
  const char* const more = std::getenv("ASSAY_TOKENIZER_GOLDEN");
  if (more != nullptr && *more != '\0') files.emplace_back(more);
  return files;
}

// A list of strings or of lists as golden/record/record_tokenizer.py lays it out.
template <class T>
class Column {
 public:
  Column(const Hdf5File& file, const std::string& name, const std::string& end)
      : values_(file.read("/" + name)), end_(file.read("/" + end)) {}

  std::size_t size() const { return static_cast<std::size_t>(end_.elements()); }
  std::span<const T> operator[](std::size_t i) const {
    const auto* const end = end_.as<std::int64_t>();
    const std::int64_t begin = i == 0 ? 0 : end[i - 1];
    EXPECT_TRUE(begin <= end[i] && end[i] <= values_.elements());
    return {values_.as<T>() + begin, static_cast<std::size_t>(end[i] - begin)};
  }

 private:
  Array values_, end_;
};

struct Texts : Column<char> {
  Texts(const Hdf5File& file, const std::string& name) : Column(file, name, name + "_end") {}
  std::string_view operator[](std::size_t i) const {
    const std::span<const char> text = Column::operator[](i);
    return {text.data(), text.size()};
  }
};

template <class Values>
std::vector<std::int64_t> listed(const Values& values) {
  return {values.begin(), values.end()};
}

std::string hex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    char byte[4];
    std::snprintf(byte, sizeof byte, "%02x ", static_cast<unsigned char>(c));
    out += byte;
  }
  return out;
}

TEST(Golden, IdsPiecesNormalFormAndDecodedText) {
  const Tokenizer& tokenizer = kjv_tokenizer();
  for (const auto& path : goldens()) {
    const Hdf5File file(path);
    const Texts text(file, "text");
    const Texts nfc(file, "nfc");
    const Texts decoded(file, "decoded");
    const Column<std::int32_t> ids(file, "ids", "ids_end");
    const Column<std::int64_t> pieces(file, "pieces_end", "pieces_count_end");
    ASSERT_GT(text.size(), 0U) << path;
    for (std::size_t i = 0; i < text.size() && !HasFailure(); ++i) {
      const auto where = [&] { return path.string() + ", text " + std::to_string(i) + ": " + hex(text[i]); };
      EXPECT_EQ(tokenizer.normalise(text[i]), nfc[i]) << where();
      EXPECT_EQ(listed(tokenizer.piece_ends(nfc[i])), listed(pieces[i])) << where();
      EXPECT_EQ(listed(tokenizer.encode(text[i])), listed(ids[i])) << where();
      EXPECT_EQ(tokenizer.decode(ids[i]), decoded[i]) << where();
    }
  }
}

TEST(Golden, PiecesWithoutJit) {
  const PreTokenizer interpreted(kQwen2Pattern, false);
  const Hdf5File file(goldens()[1]);
  const Texts nfc(file, "nfc");
  const Column<std::int64_t> pieces(file, "pieces_end", "pieces_count_end");
  for (std::size_t i = 0; i < nfc.size(); ++i) EXPECT_EQ(listed(interpreted.piece_ends(nfc[i])), listed(pieces[i])) << hex(nfc[i]);
}

}  // namespace
}  // namespace assay
