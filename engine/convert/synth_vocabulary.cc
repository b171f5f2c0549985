#include "engine/convert/synth_vocabulary.h"

#include <array>
#include <stdexcept>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/utf8.h"

namespace assay {
namespace {

struct Special {
  std::string_view text;
  TokenType type;
};

// In the order of Qwen3's ids, from 151643 on.
constexpr std::array<Special, 26> kSpecials{
    {{"<|endoftext|>", TokenType::control},        {"<|im_start|>", TokenType::control},
     {"<|im_end|>", TokenType::control},           {"<|object_ref_start|>", TokenType::control},
     {"<|object_ref_end|>", TokenType::control},   {"<|box_start|>", TokenType::control},
     {"<|box_end|>", TokenType::control},          {"<|quad_start|>", TokenType::control},
     {"<|quad_end|>", TokenType::control},         {"<|vision_start|>", TokenType::control},
     {"<|vision_end|>", TokenType::control},       {"<|vision_pad|>", TokenType::control},
     {"<|image_pad|>", TokenType::control},        {"<|video_pad|>", TokenType::control},
     {"<tool_call>", TokenType::user_defined},     {"</tool_call>", TokenType::user_defined},
     {"<|fim_prefix|>", TokenType::user_defined},  {"<|fim_middle|>", TokenType::user_defined},
     {"<|fim_suffix|>", TokenType::user_defined},  {"<|fim_pad|>", TokenType::user_defined},
     {"<|repo_name|>", TokenType::user_defined},   {"<|file_sep|>", TokenType::user_defined},
     {"<tool_response>", TokenType::user_defined}, {"</tool_response>", TokenType::user_defined},
     {"<think>", TokenType::user_defined},         {"</think>", TokenType::user_defined}}};
constexpr std::int64_t kRowsForOnePadding = 569;
constexpr std::size_t kLetters = 26;

std::string spelt(unsigned char byte) {
  std::string text;
  append_code_point(alphabet_letter(byte), text);
  return text;
}

void add(Vocabulary& vocabulary, std::string token, TokenType type) {
  vocabulary.tokens.push_back(std::move(token));
  vocabulary.types.push_back(type);
}

// Each word of the generation before with each letter behind it, until the vocabulary has `count` tokens. The next generation is
// what was added.
std::vector<std::string> lengthen(const std::vector<std::string>& words, std::size_t count, Vocabulary& vocabulary) {
  std::vector<std::string> longer;
  for (const std::string& word : words) {
    for (std::size_t i = 0; i < kLetters; ++i) {
      if (vocabulary.tokens.size() == count) return longer;
      const std::string letter(1, static_cast<char>('a' + i));
      vocabulary.merges.push_back(word + " " + letter);
      add(vocabulary, word + letter, TokenType::normal);
      longer.push_back(word + letter);
    }
  }
  return longer;
}

void add_words(std::size_t count, Vocabulary& vocabulary) {
  std::vector<std::string> words{spelt(' ')};
  for (std::size_t i = 0; i < kLetters; ++i) words.emplace_back(1, static_cast<char>('a' + i));
  while (vocabulary.tokens.size() < count) words = lengthen(words, count, vocabulary);
}

}  // namespace

TokenizerMetadata synth_tokenizer(std::int64_t rows) {
  if (rows < kLeastSynthRows || rows > kMostSynthRows) {
    throw std::invalid_argument("a vocabulary of " + std::to_string(rows) + "; expected " + std::to_string(kLeastSynthRows) +
                                " to " + std::to_string(kMostSynthRows));
  }
  TokenizerMetadata out;
  out.vocabulary.source = "the synthetic vocabulary";
  for (int byte = 0; byte < 256; ++byte) add(out.vocabulary, spelt(static_cast<unsigned char>(byte)), TokenType::normal);
  const std::int64_t padding = rows / kRowsForOnePadding;
  const std::int64_t normal = rows - padding - std::ssize(kSpecials);
  add_words(static_cast<std::size_t>(normal), out.vocabulary);
  for (const Special& special : kSpecials) add(out.vocabulary, std::string(special.text), special.type);
  pad_vocabulary(out.vocabulary, rows);
  out.bos = out.padding = normal;  // <|endoftext|>
  out.eos = normal + 2;            // <|im_end|>
  out.vocabulary.eos = kSpecials[2].text;
  return out;
}

}  // namespace assay
