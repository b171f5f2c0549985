#include "engine/model/gguf_vocabulary.h"

#include <unordered_set>

#include "engine/model/config.h"
#include "engine/model/gguf_keys.h"
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/utf8.h"

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
    if (number < 1 || number > 5) {
      keys.fail(Fault::vocabulary, kTypes,
                "type " + std::to_string(number) + " of token " + std::to_string(id) + "; expected 1 to 5");
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

Vocabulary read_gguf_vocabulary(const GgufContents& gguf, const std::string& file) {
  const GgufKeys keys(gguf, file);
  check_kind(keys, "tokenizer.ggml.model", "gpt2");
  check_kind(keys, "tokenizer.ggml.pre", "qwen2");
  const auto& tokens = keys.strings(kTokens);
  const auto& merges = keys.strings(kMerges);
  check_merges(keys, merges, check_tokens(keys, tokens));

  Vocabulary out;
  out.source = file;
  out.pattern = pre_tokenizer_pattern(keys.string("tokenizer.ggml.pre"));
  out.tokens.assign(tokens.begin(), tokens.end());
  out.types = read_types(keys, tokens.size());
  out.merges.assign(merges.begin(), merges.end());
  for (const char* name : {"bos", "eos", "eot", "padding", "unknown"}) {
    const std::string key = std::string("tokenizer.ggml.") + name + "_token_id";
    const auto id = keys.optional_integer(key, 0, static_cast<std::int64_t>(tokens.size()) - 1);
    if (id && std::string_view(name) == "eos") out.eos = tokens[static_cast<std::size_t>(*id)];
  }
  return out;
}

}  // namespace assay
