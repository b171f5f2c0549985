// The tokenizer against Hugging Face's `tokenizers`, as golden/tokenizer holds its answers; its stages one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/tokenizer_json.h"
#include "golden/hdf5.h"
#include "harness/verdict/suite.h"
#include "tests/tokenizer_trial.h"

namespace assay::tokenizer_test {
namespace {

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
  for (std::size_t i = 0; i < nfc.size(); ++i)
    EXPECT_EQ(listed(interpreted.piece_ends(nfc[i])), listed(pieces[i])) << hex(nfc[i]);
}

TEST(Golden, InvalidUtf8AsPythonReplacesIt) {
  const Hdf5File file(goldens()[1]);
  const Texts raw(file, "raw");
  const Texts replaced(file, "replaced");
  ASSERT_GT(raw.size(), 0U);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    EXPECT_EQ(to_utf8(raw[i]), replaced[i]) << hex(raw[i]);
    EXPECT_EQ(kjv_tokenizer().encode(raw[i]), kjv_tokenizer().encode(replaced[i])) << hex(raw[i]);
    Utf8Stream stream;
    std::string streamed;
    for (const char c : raw[i]) stream.append({&c, 1}, streamed);
    stream.flush(streamed);
    EXPECT_EQ(streamed, replaced[i]) << hex(raw[i]);
  }
}

// A token at a time: the portions are valid UTF-8 each and together what decode gives, whatever the ids.
TEST(Detokenizer, GivesWholeCodePoints) {
  const Tokenizer& tokenizer = kjv_tokenizer();
  const Hdf5File file(goldens()[1]);
  const Column<std::int32_t> recorded(file, "ids", "ids_end");
  for (std::size_t i = 0; i < 300; ++i) {
    std::vector<std::int32_t> ids(recorded[i].begin(), recorded[i].end());
    if (i % 2 == 1) std::reverse(ids.begin(), ids.end());  // bytes in the wrong order
    Detokenizer detokenizer(tokenizer, true);
    const char* const memory = detokenizer.flush().data();
    std::string whole;
    std::string bytes;
    for (const std::int32_t id : ids) {
      const std::string_view given = detokenizer.append(id);
      EXPECT_EQ(given.data(), memory);  // nothing was allocated anew
      const std::string portion(given);
      EXPECT_EQ(to_utf8(portion), portion);
      whole += portion;
      bytes += tokenizer.bytes(id);
    }
    whole += detokenizer.flush();
    EXPECT_EQ(whole, to_utf8(bytes));
    EXPECT_EQ(whole, tokenizer.decode(ids));
  }
}

TEST(Detokenizer, HoldsBackACodePointUntilItIsWhole) {
  const Tokenizer& tokenizer = kjv_tokenizer();
  const std::vector<std::int32_t> ids = tokenizer.encode("\xe4\xb8\xad");
  ASSERT_EQ(ids.size(), 3U);
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.append(ids[0]), "");
  EXPECT_EQ(detokenizer.append(ids[1]), "");
  EXPECT_EQ(detokenizer.append(ids[2]), "\xe4\xb8\xad");
  EXPECT_EQ(detokenizer.flush(), "");
  EXPECT_EQ(detokenizer.append(ids[0]), "");
  EXPECT_EQ(detokenizer.append(tokenizer.id_of("<|im_end|>")), "");  // hidden, and no part of the text
  EXPECT_EQ(detokenizer.append(tokenizer.id_of("a")),
            "\xef\xbf\xbd"
            "a");
  detokenizer.append(ids[0]);
  EXPECT_EQ(detokenizer.flush(), "\xef\xbf\xbd");
  EXPECT_EQ(detokenizer.append(4090), "");  // the embedding's padding
  EXPECT_THROW(detokenizer.append(-1), TokenizerError);
}

TEST(Normalise, IsASwitch) {
  Vocabulary vocabulary = vocabulary_from_tokenizer_json(kjv_folder() / "tokenizer.json");
  EXPECT_TRUE(vocabulary.nfc);
  vocabulary.nfc = false;
  const Tokenizer plain(std::move(vocabulary));
  EXPECT_EQ(plain.decode(plain.encode("e\xcc\x81")), "e\xcc\x81");
  EXPECT_EQ(kjv_tokenizer().decode(kjv_tokenizer().encode("e\xcc\x81")), "\xc3\xa9");
}

TEST(Specials, CanBeTakenForText) {
  const Tokenizer& tokenizer = kjv_tokenizer();
  const std::string text = "a<|im_end|>";
  EXPECT_EQ(tokenizer.encode(text), (std::vector{tokenizer.id_of("a"), tokenizer.id_of("<|im_end|>")}));
  const std::vector<std::int32_t> plain = tokenizer.encode(text, Specials::as_text);
  EXPECT_EQ(std::count(plain.begin(), plain.end(), tokenizer.id_of("<|im_end|>")), 0);
  EXPECT_EQ(tokenizer.decode(plain), text);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text), false), "a");
}

TEST(Specials, TheLongestByTypeButNeverUnused) {
  const Tokenizer tokenizer(bytes_and({{"<a", TokenType::unknown},
                                       {"<a>", TokenType::control},
                                       {"<b>", TokenType::user_defined},
                                       {"<c>", TokenType::unused},
                                       {"<c>", TokenType::unused},
                                       {"<a><b", TokenType::control}}));
  EXPECT_EQ(tokenizer.encode("<a"), (std::vector{256}));
  EXPECT_EQ(tokenizer.encode("<a><b>"), (std::vector{261, tokenizer.id_of(">")}));
  EXPECT_EQ(tokenizer.encode("<a><c><b>"),
            (std::vector{257, tokenizer.id_of("<"), tokenizer.id_of("c"), tokenizer.id_of(">"), 258}));
  EXPECT_FALSE(tokenizer.find("<c>"));
  EXPECT_EQ(tokenizer.decode(std::vector{259, 257, 256, 258}), "<a><a<b>");
  EXPECT_EQ(tokenizer.decode(std::vector{259, 257, 256, 258}, false), "<a<b>");
}

}  // namespace
}  // namespace assay::tokenizer_test
