// Byte-level BPE: text to token ids and back, equal to Hugging Face's `tokenizers`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/special_tokens.h"
#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/utf8.h"
#include "engine/tokenizer/vocabulary.h"

namespace assay {

// Whether `encode` matches special tokens in the text ("<|im_end|>" is one token) or takes all of it for plain text.
enum class Specials : std::uint8_t { matched, as_text };

// Immutable; may be used from several threads at once.
class Tokenizer {
 public:
  // Throws TokenizerError that names the source, the token or merge and its position: a type that is not known, a token
  // twice (unused ones aside), a normal token that the byte alphabet does not spell, a byte without a token, a merge of or
  // to an unknown token, a merge twice; and std::runtime_error for a pattern that does not compile.
  explicit Tokenizer(Vocabulary vocabulary);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const std::string& source() const { return source_; }
  // Ids are 0 .. size() - 1. A model's embedding may have more rows, which are padding.
  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  // The token of that spelling, as the vocabulary has it ("<|im_end|>", "Ġthe").
  std::optional<std::int32_t> find(std::string_view spelling) const;
  // The same; throws TokenizerError if there is none.
  std::int32_t id_of(std::string_view spelling) const;

  // Invalid UTF-8 becomes U+FFFD (utf8.h); special tokens are cut out; each stretch between them is normalised, cut into
  // pieces and merged. Throws TokenizerError for a text of 512 MiB or more.
  std::vector<std::int32_t> encode(std::string_view text, Specials specials = Specials::matched) const;
  // The text of the tokens' bytes together, with U+FFFD where they are not UTF-8. Ids at or past size(), which are padding,
  // give nothing; a negative id throws TokenizerError. `show_control`: print control tokens too.
  std::string decode(std::span<const std::int32_t> ids, bool show_control = true) const;

  // What a token stands for: bytes that need not be UTF-8 by themselves. Empty for padding, unused ones included.
  // Throws TokenizerError for a negative id.
  std::string_view bytes(std::int32_t id) const;
  bool is_control(std::int32_t id) const;
  // The most that bytes() gives.
  std::size_t longest() const { return longest_; }

  // Two stages of encode, to be compared one by one. `text` must be valid UTF-8.
  std::string normalise(std::string_view text) const;
  std::vector<std::size_t> piece_ends(std::string_view normalised) const { return pre_tokenizer_.piece_ends(normalised); }

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void index_tokens();
  void take_bytes(std::int32_t id);
  void find_byte_tokens();
  void index_merges(const std::vector<std::string>& merges);
  void encode_plain(std::string_view text, Bpe& bpe, std::vector<std::int32_t>& ids) const;

  std::string source_;
  std::vector<std::string> tokens_;
  std::vector<TokenType> types_;
  bool nfc_;
  PreTokenizer pre_tokenizer_;
  TokenIndex index_;
  SpecialTokens specials_;
  std::string bytes_;                   // of all tokens, one after the other
  std::vector<std::size_t> bytes_end_;  // by id
  std::size_t longest_ = 0;
  std::array<std::int32_t, 256> byte_tokens_{};
  MergeTable merges_;
};

// Text of tokens as they come: only whole code points are given out.
class Detokenizer {
 public:
  // `tokenizer` must outlive the object.
  explicit Detokenizer(const Tokenizer& tokenizer, bool show_control = false);

  // The text that `id` completes; valid until the next call. Allocates nothing. Errors as Tokenizer::bytes.
  std::string_view append(std::int32_t id);
  // The end: a code point begun becomes U+FFFD. Valid until the next call.
  std::string_view flush();

 private:
  const Tokenizer& tokenizer_;
  bool show_control_;
  Utf8Stream stream_;
  std::string text_;
};

}  // namespace assay
