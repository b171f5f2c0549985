// Tokens, their types, merges and special ids.
#include "tests/malformed/gguf_image.h"

namespace assay::malformed {
namespace {

constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kOverflow = "a table of one size, an index of another (CVE-2025-49847)";

Case vocabulary_case(const std::string& name, const std::string& mechanism, Fault fault, const std::string& key,
                     const Bytes& value) {
  return gguf_case(name, mechanism, fault, "key '" + key + "'", [&](GgufImage& image) { image.set(key, value); });
}

Bytes types_of(const std::vector<std::int32_t>& types) {
  Bytes payload;
  for (const std::int32_t type : types) put(payload, type);
  return array(kI32, types.size(), payload);
}

void add_tokens(std::vector<Case>& cases) {
  const auto with_third = [](const std::string& token) {
    return strings({"a", "b", token, "ab", "abc", "[PAD5]", "<|endoftext|>", "<|im_end|>"});
  };
  const auto add = [&](const std::string& name, const std::string& mechanism, const std::string& token) {
    cases.push_back(vocabulary_case("token-" + name, mechanism, Fault::vocabulary, kTokens, with_third(token)));
  };
  const std::string utf8 = "text that is no UTF-8, decoded without looking";
  add("twice", "two ids for one token", "a");
  add("empty", "a token that matches everywhere", "");
  add("stray-continuation", utf8, "c\x80");
  add("overlong", utf8, "\xc0\xaf");
  add("overlong-three", utf8, "\xe0\x80\xaf");
  add("surrogate", utf8, "\xed\xa0\x80");
  add("cut-short", utf8, "\xf0\x9f\x98");
  add("beyond-unicode", utf8, "\xf4\x90\x80\x80");
  cases.push_back(vocabulary_case("tokens-none", kOverflow, Fault::vocabulary, kTokens, strings({})));
  cases.push_back(gguf_case("tokens-one-less-than-rows", kOverflow, Fault::vocabulary, "key 'tokenizer.ggml.token_type'",
                            [](GgufImage& image) {
                              image.set(kTokens, strings({"a", "b", "c", "ab", "abc", "[PAD5]", "<|im_end|>"}));
                            }));
  cases.push_back(
      gguf_case("tokens-one-more-than-rows", kOverflow, Fault::tensor_shape, "tensor 'token_embd.weight'", [](GgufImage& image) {
        image.set(kTokens, strings({"a", "b", "c", "ab", "abc", "[PAD5]", "<|endoftext|>", "<|im_end|>", "d"}));
        image.set(kTypes, types_of({1, 1, 1, 1, 1, 5, 3, 3, 1}));
      }));
}

void add_types_and_merges(std::vector<Case>& cases) {
  cases.push_back(vocabulary_case("types-short", kOverflow, Fault::vocabulary, kTypes, types_of({1, 1, 1, 1, 1, 5, 3})));
  cases.push_back(vocabulary_case("types-long", kOverflow, Fault::vocabulary, kTypes, types_of({1, 1, 1, 1, 1, 5, 3, 3, 3})));
  cases.push_back(vocabulary_case("types-none", kOverflow, Fault::vocabulary, kTypes, types_of({})));
  for (const std::int32_t type : {0, 7, -1, INT32_MIN}) {
    cases.push_back(vocabulary_case("token-type-" + std::to_string(type), "an index beyond the table of token types",
                                    Fault::vocabulary, kTypes, types_of({1, 1, 1, 1, 1, 5, 3, type})));
  }
  cases.push_back(vocabulary_case("token-types-unsigned", "a value read as another type", Fault::key_type, kTypes,
                                  array(kU32, 8, Bytes(32, 0))));
  const auto add = [&cases](const std::string& name, const std::string& merge) {
    cases.push_back(vocabulary_case("merge-" + name, "a merge of pieces that are no tokens: ids out of range", Fault::vocabulary,
                                    kMerges, strings({"a b", merge})));
  };
  add("empty", "");
  add("without-space", "ab");
  add("two-spaces", "a b c");
  add("space-alone", " ");
  add("left-missing", " b");
  add("right-missing", "a ");
  add("left-unknown", "z b");
  add("right-unknown", "a z");
}

void add_special_ids(std::vector<Case>& cases) {
  for (const char* name : {"bos", "eos", "eot", "padding", "unknown"}) {
    const std::string key = "tokenizer.ggml." + std::string(name) + "_token_id";
    cases.push_back(vocabulary_case("id-of-" + std::string(name) + "-is-size", kOverflow, Fault::key_value, key,
                                    scalar<std::uint32_t>(kU32, 8)));
    cases.push_back(vocabulary_case("id-of-" + std::string(name) + "-negative", kOverflow, Fault::key_value, key,
                                    scalar<std::int32_t>(kI32, -1)));
    cases.push_back(vocabulary_case("id-of-" + std::string(name) + "-huge", kOverflow, Fault::key_value, key,
                                    scalar<std::uint32_t>(kU32, 0xffffffff)));
  }
}

}  // namespace

void add_gguf_vocabulary_cases(std::vector<Case>& cases) {
  add_tokens(cases);
  add_types_and_merges(cases);
  add_special_ids(cases);
}

}  // namespace assay::malformed
