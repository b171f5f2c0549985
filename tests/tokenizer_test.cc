// The tokenizer against Hugging Face's `tokenizers`, as golden/tokenizer holds its answers; its refusals; its stages.
#include "engine/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/chat.h"
#include "engine/tokenizer/normalise.h"
#include "engine/tokenizer/tokenizer_json.h"
#include "golden/hdf5.h"
#include "harness/suite.h"
#include "tests/temporary.h"

namespace assay {
namespace {

std::filesystem::path kjv() {
  return own_golden() / "models" / "kjv";
}

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
    std::string whole;
    std::string bytes;
    for (const std::int32_t id : ids) {
      const std::string portion(detokenizer.append(id));
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
  Vocabulary vocabulary = vocabulary_from_tokenizer_json(kjv() / "tokenizer.json");
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

// The 256 bytes, then `more`.
Vocabulary bytes_and(const std::vector<std::pair<std::string, TokenType>>& more, std::vector<std::string> merges = {}) {
  Vocabulary vocabulary;
  vocabulary.source = "trial";
  for (unsigned byte = 0; byte < 256; ++byte) {
    append_code_point(alphabet_letter(static_cast<unsigned char>(byte)), vocabulary.tokens.emplace_back());
  }
  vocabulary.types.assign(256, TokenType::normal);
  for (const auto& [token, type] : more) {
    vocabulary.tokens.push_back(token);
    vocabulary.types.push_back(type);
  }
  vocabulary.merges = std::move(merges);
  return vocabulary;
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

std::string complaint(Vocabulary vocabulary) {
  try {
    const Tokenizer tokenizer(std::move(vocabulary));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

TEST(Refusal, NamesTheTokenOrTheMerge) {
  const TokenType normal = TokenType::normal;
  EXPECT_EQ(complaint(bytes_and({{"ab", normal}}, {"a b"})), "none");
  EXPECT_EQ(complaint(bytes_and({{"ab", normal}}, {"a b", "a c"})),
            "trial: merge 1 'a c': 'ac' is no normal token of the vocabulary");
  EXPECT_EQ(complaint(bytes_and({}, {"a xy"})), "trial: merge 0 'a xy': 'xy' is no normal token of the vocabulary");
  EXPECT_EQ(complaint(bytes_and({{"ab", TokenType::control}}, {"a b"})),
            "trial: merge 0 'a b': 'ab' is no normal token of the vocabulary");
  EXPECT_EQ(complaint(bytes_and({{"ab", normal}}, {"a b", "a b"})), "trial: merge 1 'a b' is merge 0 again");
  for (const char* merge : {"ab", "a b c", ""}) {
    EXPECT_NE(complaint(bytes_and({}, {merge})).find("expected two tokens and one space"), std::string::npos) << merge;
  }
  EXPECT_EQ(complaint(bytes_and({{"a", normal}})), "trial: token 256 'a' is token 97 again");
  EXPECT_EQ(complaint(bytes_and({{"", normal}})), "trial: token 256 '' is empty");
  EXPECT_NE(complaint(bytes_and({{"a b", normal}})).find("token 256 'a b' holds a letter that stands for no byte"),
            std::string::npos);
  EXPECT_NE(complaint(bytes_and({{"\xff", normal}})).find("token 256 '\xef\xbf\xbd' is not valid UTF-8"), std::string::npos);
  EXPECT_NE(complaint(bytes_and({{"x1", static_cast<TokenType>(6)}})).find("token 256 'x1' has type 6; expected 1"),
            std::string::npos);

  Vocabulary vocabulary = bytes_and({});
  vocabulary.tokens[0x41] = "AA";
  EXPECT_EQ(complaint(vocabulary), "trial: no token for byte 0x41; expected a normal token 'A'");
  vocabulary.types.pop_back();
  EXPECT_EQ(complaint(vocabulary), "trial: 255 token types for 256 tokens");
  vocabulary = bytes_and({});
  vocabulary.pattern = "a(b";
  EXPECT_NE(complaint(vocabulary).find("pattern 'a(b', offset 3"), std::string::npos);
  EXPECT_THROW(pre_tokenizer_pattern("llama3"), std::runtime_error);
  EXPECT_EQ(pre_tokenizer_pattern("qwen2"), kQwen2Pattern);
}

// A tokenizer.json with `from` written as `to`, and what is said of it.
std::string complaint_of_json(const std::string& from, const std::string& to) {
  static const std::string whole = [] {
    std::ifstream in(kjv() / "tokenizer.json");
    return std::string{std::istreambuf_iterator<char>(in), {}};
  }();
  std::string text = whole;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "the file does not hold " + from;
  text.replace(at, from.size(), to);
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "t.json") << text;
  try {
    const Tokenizer tokenizer(vocabulary_from_tokenizer_json(folder.path() / "t.json"));
  } catch (const TokenizerError& error) {
    return error.what();
  }
  return "none";
}

TEST(Refusal, NamesTheKeyOfATokenizerJson) {
  struct Damage {
    const char *from, *to, *told;
  };
  const Damage damages[] = {
      {"{", "[", "t.json: [json.exception.parse_error.101] parse error at line"},
      {"\"BPE\"", "\"Unigram\"", "model.type: expected \"BPE\", found \"Unigram\""},
      {"\"NFC\"", "\"NFKC\"", "normalizer.type: expected \"NFC\", found \"NFKC\""},
      {"\"byte_fallback\": false", "\"byte_fallback\": true", "model.byte_fallback: expected false or null, found true"},
      {"\"Isolated\"", "\"Removed\"", "pre_tokenizer.pretokenizers[0].behavior: expected \"Isolated\""},
      {"\"use_regex\": false", "\"use_regex\": true", "pre_tokenizer.pretokenizers[1].use_regex: expected false, found true"},
      {"\"lstrip\": false", "\"lstrip\": true", "added_tokens[0].lstrip: expected false, found true"},
      {"\"id\": 4065", "\"id\": 4066", "added_tokens[2].id: id 4066 is that of '<|im_start|>'"},
      {"\"id\": 4066", "\"id\": 4067", "added_tokens[2].id: id 4067; expected one below the number of tokens, 4067"},
      {"\"id\": 4066", "\"id\": \"x\"", "added_tokens[2].id: expected an id, found \"x\""},
      {"\"!\": 0", "\"!\": 1", "model.vocab, id 1: id 1 is that of '!'"},
      {"\"!\": 0", "\"!\": -1", "model.vocab.!: expected an id"},
      {"\"!\": 0", "\"!\": [0]", "model.vocab.!: expected an id"},
      {"\"!\": 0,", "", "added_tokens[2].id: id 4066; expected one below the number of tokens, 4066"},
      {"\"\\\"\": 1,", "\"!\": 0,", "no token has id 1, and one has 4066"},
      {"\"merges\": [", "\"merges\": [1, ", "model.merges[0]: expected two tokens"},
      {"\"merges\": [", "\"merges\": [[\"a\"], ", "model.merges[0]: expected two tokens"},
      {"\"merges\": [", "\"merges\": [[\"a\", \"b\", \"c\"], ", "model.merges[0]: expected two tokens"},
      {"\"merges\": [", "\"merges\": [[\"a\", [\"b\"]], ", "model.merges[0]: expected two tokens"},
      {"\"merges\": [", "\"merges\": {}, \"x\": [", "model.merges: expected an array"},
      {"\"merges\": [", "\"merges\": [\"a zz\", ", "merge 0 'a zz': 'azz' is no normal token"},
      {"\"padding\": null", "\"truncation\": null", "truncation: the key stands twice in its object"},
      {"\"padding\": null", "\"padding\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested deeper than 32"},
      {"\"decoder\"", "\"decode\"", "decoder: expected an object, found null"},
  };
  EXPECT_EQ(complaint_of_json("{", "{"), "none");
  for (const Damage& damage : damages) {
    const std::string told = complaint_of_json(damage.from, damage.to);
    EXPECT_NE(told.find(damage.told), std::string::npos) << damage.from << " -> " << damage.to << ": " << told;
    EXPECT_NE(told.find("t.json: "), std::string::npos) << told;
  }
  EXPECT_THROW(vocabulary_from_tokenizer_json("/no/such/tokenizer.json"), TokenizerError);
}

// Merges by the definition: again and again the leftmost of the lowest-ranked pairs.
std::vector<std::int32_t> merged_by_definition(const Tokenizer& tokenizer, const std::map<std::string, std::size_t>& ranks,
                                               const std::string& letters) {
  std::vector<std::string> symbols;
  for (const char letter : letters) symbols.emplace_back(1, letter);
  while (true) {
    std::size_t best = SIZE_MAX;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto rank = ranks.find(symbols[i] + " " + symbols[i + 1]);
      if (rank != ranks.end() && rank->second < best) {
        best = rank->second;
        at = i;
      }
    }
    if (best == SIZE_MAX) break;
    symbols[at] += symbols[at + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<std::int32_t> ids;
  for (const std::string& symbol : symbols) ids.push_back(tokenizer.id_of(symbol));
  return ids;
}

std::string random_letters(std::mt19937& random, std::size_t most) {
  std::string text;
  for (std::size_t n = 1 + random() % most; n > 0; --n) text += static_cast<char>('a' + random() % 20);
  return text;
}

// As many tokens as Qwen3 has: bytes, merges of them at random, special tokens, padding.
Vocabulary full_size(std::mt19937& random) {
  constexpr std::size_t kSize = 151936;
  std::vector<std::string> known;
  std::set<std::string> taken;
  for (char c = 'a'; c < 'a' + 20; ++c) taken.insert(known.emplace_back(1, c));
  std::vector<std::pair<std::string, TokenType>> more;
  std::vector<std::string> merges;
  while (more.size() < 151643 - 256) {
    const std::string left = known[random() % known.size()];
    const std::size_t reach = random() % 4 == 0 ? known.size() : std::min<std::size_t>(known.size(), 200);  // mostly short ones
    const std::string right = known[random() % reach];
    if (left.size() + right.size() > 12 || !taken.insert(left + right).second) continue;
    known.push_back(left + right);
    more.emplace_back(left + right, TokenType::normal);
    merges.push_back(left + " " + right);
  }
  for (const char* name : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) more.emplace_back(name, TokenType::control);
  for (const char* name : {"<think>", "</think>"}) more.emplace_back(name, TokenType::user_defined);
  while (more.size() < kSize - 256) more.emplace_back("[PAD" + std::to_string(256 + more.size()) + "]", TokenType::unused);
  return bytes_and(more, std::move(merges));
}

TEST(FullSize, MergesAsTheDefinitionSays) {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same vocabulary each time
  const Vocabulary vocabulary = full_size(random);
  std::map<std::string, std::size_t> ranks;
  for (std::size_t i = 0; i < vocabulary.merges.size(); ++i) ranks[vocabulary.merges[i]] = i;
  const Tokenizer tokenizer(vocabulary);
  EXPECT_EQ(tokenizer.size(), 151936);
  EXPECT_EQ(tokenizer.id_of("</think>"), 151647);
  EXPECT_FALSE(tokenizer.find("[PAD151900]"));
  for (int i = 0; i < 300; ++i) {
    const std::string word = random_letters(random, 60);
    EXPECT_EQ(tokenizer.encode(word), merged_by_definition(tokenizer, ranks, word)) << word;
  }
}

// One piece of 100,000 bytes. If merging were quadratic this would take minutes; the label's timeout ends it.
TEST(FullSize, LongPieces) {
  const Tokenizer& tokenizer = kjv_tokenizer();
  for (const char* unit : {"a", " ", "\n", "!", "ab", "\xc3\xa9"}) {
    std::string text;
    while (text.size() < 100000) text += unit;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text) << unit;
  }
}

Tokenizer thinking_tokenizer() {
  Vocabulary vocabulary = vocabulary_from_tokenizer_json(kjv() / "tokenizer.json");
  for (const char* name : {"<think>", "</think>"}) {
    vocabulary.tokens.emplace_back(name);
    vocabulary.types.push_back(TokenType::user_defined);
  }
  return Tokenizer(std::move(vocabulary));
}

// Expected texts: Qwen3's own template, rendered by Jinja2 3.1.
TEST(Chat, IsQwen3sTemplate) {
  const Tokenizer tokenizer = thinking_tokenizer();
  const auto chat = [&](const std::vector<ChatMessage>& messages, Thinking thinking) {
    return qwen3_chat(tokenizer, messages, thinking);
  };
  EXPECT_EQ(chat({{"system", "Be brief."}, {"user", "Hi"}}, Thinking::on),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(chat({{"user", "1"}, {"assistant", "<think>\nx\n</think>\n\n2"}, {"user", "3"}}, Thinking::off),
            "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n2<|im_end|>\n<|im_start|>user\n3<|im_end|>\n"
            "<|im_start|>assistant\n<think>\n\n</think>\n\n");
  EXPECT_EQ(chat({{"user", "1"}, {"assistant", "<think>\nwhy\n</think>\n\n2"}}, Thinking::on),
            "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n<think>\nwhy\n</think>\n\n2<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(chat({{"user", "1"},
                  {"assistant", "<think>\nwhy\n</think>\n\ncall"},
                  {"user", "<tool_response>5</tool_response>"},
                  {"assistant", "done"}},
                 Thinking::on),
            "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n<think>\nwhy\n</think>\n\ncall<|im_end|>\n"
            "<|im_start|>user\n<tool_response>5</tool_response><|im_end|>\n"
            "<|im_start|>assistant\n<think>\n\n</think>\n\ndone<|im_end|>\n<|im_start|>assistant\n");
}

TEST(Chat, AVocabularyThatDoesNotThink) {
  const std::vector<ChatMessage> messages{{"user", "1"}, {"assistant", "<think>x</think>2"}};
  EXPECT_EQ(qwen3_chat(kjv_tokenizer(), messages, Thinking::on),
            "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n<think>x</think>2<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_THROW(qwen3_chat(kjv_tokenizer(), messages, Thinking::off), TokenizerError);
  EXPECT_THROW(qwen3_chat(kjv_tokenizer(), std::vector<ChatMessage>{{"tool", "x"}}, Thinking::on), TokenizerError);
  EXPECT_THROW(qwen3_chat(Tokenizer(bytes_and({})), messages, Thinking::on), TokenizerError);
}

TEST(Chat, StopsAreFoundByName) {
  EXPECT_EQ(eos_from_tokenizer_config(kjv() / "tokenizer_config.json"), "<|im_end|>");
  EXPECT_EQ(stop_tokens(kjv_tokenizer(), "<|im_end|>", false), (std::vector{4066}));
  EXPECT_EQ(stop_tokens(kjv_tokenizer(), "<|im_end|>", true), (std::vector{4066, 4064}));
  EXPECT_EQ(stop_tokens(kjv_tokenizer(), "<|endoftext|>", true), (std::vector{4064, 4066}));
  EXPECT_THROW(stop_tokens(kjv_tokenizer(), "</s>", false), TokenizerError);
}

}  // namespace
}  // namespace assay
