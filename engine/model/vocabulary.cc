#include "engine/model/vocabulary.h"

#include <unordered_set>

#include "engine/model/config.h"
#include "engine/model/gguf_keys.h"
#include "engine/model/utf8.h"

namespace assay {
namespace {

constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kMerges = "tokenizer.ggml.merges";

using TokenSet = std::unordered_set<std::string_view>;

void check_kind(const GgufKeys& keys, const char* key, std::string_view expected) {
  const std::string_view found = keys.string(key);
  if (found != expected) keys.fail(Fault::feature, key, shown(found) + "; expected " + shown(expected));
}

TokenSet check_tokens(const GgufKeys& keys, const std::vector<std::string_view>& tokens) {
  TokenSet known;
  if (tokens.size() > static_cast<std::size_t>(kMostVocab)) {
    keys.fail(Fault::vocabulary, kTokens,
              std::to_string(tokens.size()) + " tokens; expected at most " + std::to_string(kMostVocab));
  }
  known.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const bool text = !tokens[id].empty() && is_valid_utf8(tokens[id]);
    if (text && known.insert(tokens[id]).second) continue;
    keys.fail(Fault::vocabulary, kTokens,
              "token " + std::to_string(id) + ", " + shown(tokens[id]) + (text ? ", is there twice" : ", is empty or no UTF-8"));
  }
  return known;
}

std::vector<TokenType> read_types(const GgufKeys& keys, std::size_t tokens) {
  const GgufValue& value = keys.integers(kTypes, GgufType::i32);
  if (value.count != tokens) {
    keys.fail(Fault::vocabulary, kTypes,
              std::to_string(value.count) + " types; expected one for each of " + std::to_string(tokens) + " tokens");
  }
  std::vector<TokenType> types(tokens);
  for (std::size_t id = 0; id < tokens; ++id) {
    const auto number = value.element<std::int32_t>(id);
    if (number < 1 || number > 6) {
      keys.fail(Fault::vocabulary, kTypes,
                "type " + std::to_string(number) + " of token " + std::to_string(id) + "; expected 1 to 6");
    }
    types[id] = static_cast<TokenType>(number);
  }
  return types;
}

void check_merges(const GgufKeys& keys, const std::vector<std::string_view>& merges, const TokenSet& tokens) {
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view merge = merges[rank];
    const std::size_t space = merge.find(' ');
    const bool two = space != std::string_view::npos && merge.find(' ', space + 1) == std::string_view::npos;
    if (two && tokens.contains(merge.substr(0, space)) && tokens.contains(merge.substr(space + 1))) continue;
    keys.fail(
        Fault::vocabulary, kMerges,
        "merge " + std::to_string(rank) + ", " + shown(merge) + "; expected two tokens of the vocabulary and a space between");
  }
}

}  // namespace

Vocabulary read_vocabulary(const GgufContents& gguf, const std::string& file) {
  const GgufKeys keys(gguf, file);
  Vocabulary out;
  check_kind(keys, "tokenizer.ggml.model", "gpt2");
  check_kind(keys, "tokenizer.ggml.pre", "qwen2");
  out.model = keys.string("tokenizer.ggml.model");
  out.pre = keys.string("tokenizer.ggml.pre");
  out.tokens = keys.strings(kTokens);
  const TokenSet known = check_tokens(keys, out.tokens);
  out.types = read_types(keys, out.tokens.size());
  out.merges = keys.strings(kMerges);
  check_merges(keys, out.merges, known);
  const auto id = [&keys, last = static_cast<std::int64_t>(out.tokens.size()) - 1](const char* key) {
    return keys.optional_integer(key, 0, last);
  };
  out.bos = id("tokenizer.ggml.bos_token_id");
  out.eos = id("tokenizer.ggml.eos_token_id");
  out.eot = id("tokenizer.ggml.eot_token_id");
  out.padding = id("tokenizer.ggml.padding_token_id");
  out.unknown = id("tokenizer.ggml.unknown_token_id");
  out.add_bos = keys.optional_boolean("tokenizer.ggml.add_bos_token").value_or(false);
  out.chat_template = keys.optional_string("tokenizer.chat_template").value_or("");
  return out;
}

}  // namespace assay
