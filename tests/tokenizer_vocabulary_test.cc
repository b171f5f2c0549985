// Vocabularies: what is refused and how it is named, one of full size, the chat template's needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "engine/tokenizer/chat.h"
#include "engine/tokenizer/tokenizer_json.h"
#include "tests/temporary.h"
#include "tests/tokenizer_trial.h"

namespace assay::tokenizer_vocabulary_test {
namespace {

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
  static const std::string whole = file_bytes(kjv_folder() / "tokenizer.json");
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

// The tokenizer.json that says the same; padding has no place in one.
void write_tokenizer_json(const Vocabulary& vocabulary, const std::filesystem::path& path) {
  std::ifstream in(kjv_folder() / "tokenizer.json");
  nlohmann::json json = nlohmann::json::parse(in);
  nlohmann::json words = nlohmann::json::object();
  nlohmann::json added = nlohmann::json::array();
  for (std::size_t id = 0; id < vocabulary.tokens.size() && vocabulary.types[id] != TokenType::unused; ++id) {
    if (vocabulary.types[id] == TokenType::normal) {
      words[vocabulary.tokens[id]] = id;
      continue;
    }
    nlohmann::json token = json["added_tokens"][0];
    token["id"] = id;
    token["content"] = vocabulary.tokens[id];
    token["special"] = vocabulary.types[id] == TokenType::control;
    added.push_back(token);
  }
  json["model"]["vocab"] = words;
  json["model"]["merges"] = vocabulary.merges;
  json["added_tokens"] = added;
  std::ofstream(path) << json;
}

TEST(FullSize, MergesAsTheDefinitionSays) {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same vocabulary each time
  const Vocabulary vocabulary = full_size(random);
  std::map<std::string, std::size_t> ranks;
  for (std::size_t i = 0; i < vocabulary.merges.size(); ++i) ranks[vocabulary.merges[i]] = i;
  const Tokenizer tokenizer(vocabulary);
  const TemporaryFolder folder;
  write_tokenizer_json(vocabulary, folder.path() / "tokenizer.json");
  const Tokenizer from_json(vocabulary_from_tokenizer_json(folder.path() / "tokenizer.json"));
  EXPECT_EQ(tokenizer.size(), 151936);
  EXPECT_EQ(from_json.size(), 151648);
  EXPECT_EQ(tokenizer.id_of("</think>"), 151647);
  EXPECT_FALSE(tokenizer.find("[PAD151900]"));
  for (int i = 0; i < 300; ++i) {
    const std::string word = random_letters(random, 60);
    EXPECT_EQ(tokenizer.encode(word), merged_by_definition(tokenizer, ranks, word)) << word;
    EXPECT_EQ(from_json.encode("<think>" + word), tokenizer.encode("<think>" + word)) << word;
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
  Vocabulary vocabulary = vocabulary_from_tokenizer_json(kjv_folder() / "tokenizer.json");
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
  EXPECT_EQ(eos_from_tokenizer_config(kjv_folder() / "tokenizer_config.json"), "<|im_end|>");
  EXPECT_EQ(stop_tokens(kjv_tokenizer(), "<|im_end|>", false), (std::vector{4066}));
  EXPECT_EQ(stop_tokens(kjv_tokenizer(), "<|im_end|>", true), (std::vector{4066, 4064}));
  EXPECT_EQ(stop_tokens(kjv_tokenizer(), "<|endoftext|>", true), (std::vector{4064, 4066}));
  EXPECT_THROW(stop_tokens(kjv_tokenizer(), "</s>", false), TokenizerError);
}

}  // namespace
}  // namespace assay::tokenizer_vocabulary_test
