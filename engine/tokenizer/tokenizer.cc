#include "engine/tokenizer/tokenizer.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/normalise.h"

namespace assay {
namespace {

// Keeps positions in a piece within 32 bits: NFC at most triples the bytes of a text.
constexpr std::size_t kMaxText = std::size_t{512} << 20;

std::string quoted(std::string_view text) {
  return "'" + to_utf8(text) + "'";
}

bool is_special(TokenType type) {
  return type == TokenType::unknown || type == TokenType::control || type == TokenType::user_defined;
}

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : source_(std::move(vocabulary.source)),
      tokens_(std::move(vocabulary.tokens)),
      types_(std::move(vocabulary.types)),
      nfc_(vocabulary.nfc),
      pre_tokenizer_(vocabulary.pattern),
      index_(tokens_),
      merges_(vocabulary.merges.size()) {
  constexpr auto most = static_cast<std::size_t>(INT32_MAX);
  if (tokens_.size() > most || vocabulary.merges.size() > most) fail("more than 2^31 - 1 tokens or merges");
  if (types_.size() != tokens_.size()) {
    fail(std::to_string(types_.size()) + " token types for " + std::to_string(tokens_.size()) + " tokens");
  }
  index_tokens();
  find_byte_tokens();
  index_merges(vocabulary.merges);
}

void Tokenizer::fail(const std::string& what) const {
  throw TokenizerError(source_ + ": " + what);
}

void Tokenizer::index_tokens() {
  bytes_end_.reserve(tokens_.size());
  for (std::int32_t id = 0; id < size(); ++id) {
    take_bytes(id);
    if (types_[id] == TokenType::unused) continue;
    const std::int32_t before = index_.insert(id);
    if (before >= 0)
      fail("token " + std::to_string(id) + " " + quoted(tokens_[id]) + " is token " + std::to_string(before) + " again");
    if (is_special(types_[id])) specials_.add(tokens_[id], id);
  }
}

void Tokenizer::take_bytes(std::int32_t id) {
  const std::string& token = tokens_[id];
  const auto complain = [&](const std::string& what) { fail("token " + std::to_string(id) + " " + quoted(token) + what); };
  const auto type = types_[id];
  if (type != TokenType::unused && token.empty()) complain(" is empty");
  if (type == TokenType::normal) {
    if (to_utf8(token) != token) complain(" is not valid UTF-8");
    const std::optional<std::string> bytes = bytes_of_spelling(token);
    if (!bytes) complain(" holds a letter that stands for no byte; expected GPT-2's alphabet of bytes");
    bytes_ += *bytes;
  } else if (is_special(type)) {
    bytes_ += token;
  } else if (type != TokenType::unused) {
    complain(" has type " + std::to_string(static_cast<std::int32_t>(type)) +
             "; expected 1 (normal), 2 (unknown), 3 (control), 4 (user-defined) or 5 (unused)");
  }
  const std::size_t begin = bytes_end_.empty() ? 0 : bytes_end_.back();
  bytes_end_.push_back(bytes_.size());
  longest_ = std::max(longest_, bytes_.size() - begin);
}

void Tokenizer::find_byte_tokens() {
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_code_point(alphabet_letter(static_cast<unsigned char>(byte)), letter);
    const std::optional<std::int32_t> id = find(letter);
    if (!id || types_[*id] != TokenType::normal) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "0x%02x", byte);
      fail(std::string("no token for byte ") + hex + "; expected a normal token " + quoted(letter));
    }
    byte_tokens_[byte] = *id;
  }
}

void Tokenizer::index_merges(const std::vector<std::string>& merges) {
  std::string joined;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view merge = merges[rank];
    const auto complain = [&](const std::string& what) { fail("merge " + std::to_string(rank) + " " + quoted(merge) + what); };
    const std::size_t space = merge.find(' ');
    if (space == std::string_view::npos || merge.find(' ', space + 1) != std::string_view::npos) {
      complain(": expected two tokens and one space between them");
    }
    const auto known = [&](std::string_view token) {
      const std::optional<std::int32_t> id = find(token);
      if (!id || types_[*id] != TokenType::normal) complain(": " + quoted(token) + " is no normal token of the vocabulary");
      return *id;
    };
    const std::int32_t left = known(merge.substr(0, space));
    const std::int32_t right = known(merge.substr(space + 1));
    joined.assign(merge, 0, space).append(merge, space + 1);
    const std::int32_t before = merges_.insert({left, right, known(joined), static_cast<std::int32_t>(rank)});
    if (before >= 0) complain(" is merge " + std::to_string(before) + " again");
  }
}

std::optional<std::int32_t> Tokenizer::find(std::string_view spelling) const {
  const std::int32_t id = index_.find(spelling);
  return id < 0 ? std::nullopt : std::optional(id);
}

std::int32_t Tokenizer::id_of(std::string_view spelling) const {
  const std::optional<std::int32_t> id = find(spelling);
  if (!id) fail("the vocabulary has no token " + quoted(spelling));
  return *id;
}

std::string Tokenizer::normalise(std::string_view text) const {
  return nfc_ ? nfc(text) : std::string(text);
}

void Tokenizer::encode_plain(std::string_view text, Bpe& bpe, std::vector<std::int32_t>& ids) const {
  if (text.empty()) return;
  const std::string normalised = normalise(text);
  std::size_t begin = 0;
  for (const std::size_t end : piece_ends(normalised)) {
    bpe.encode(std::string_view(normalised).substr(begin, end - begin), ids);
    begin = end;
  }
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, Specials specials) const {
  const std::string valid = to_utf8(text);
  if (valid.size() >= kMaxText) fail("text of " + std::to_string(valid.size()) + " bytes; expected less than 512 MiB");
  const std::string_view whole = valid;
  Bpe bpe(merges_, byte_tokens_);
  std::vector<std::int32_t> ids;
  std::size_t at = 0;
  while (specials == Specials::matched) {
    const SpecialTokens::Match match = specials_.find(whole, at);
    if (match.id < 0) break;
    encode_plain(whole.substr(at, match.begin - at), bpe, ids);
    ids.push_back(match.id);
    at = match.end;
  }
  encode_plain(whole.substr(at), bpe, ids);
  return ids;
}

std::string_view Tokenizer::bytes(std::int32_t id) const {
  if (id < 0) fail("token id " + std::to_string(id) + "; expected 0 or more");
  if (id >= size()) return {};
  const std::size_t begin = id == 0 ? 0 : bytes_end_[id - 1];
  return std::string_view(bytes_).substr(begin, bytes_end_[id] - begin);
}

bool Tokenizer::is_control(std::int32_t id) const {
  return id >= 0 && id < size() && types_[id] == TokenType::control;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool show_control) const {
  Detokenizer detokenizer(*this, show_control);
  std::string text;
  for (const std::int32_t id : ids) text += detokenizer.append(id);
  return text += detokenizer.flush();
}

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool show_control) : tokenizer_(tokenizer), show_control_(show_control) {
  text_.reserve(3 * (tokenizer.longest() + 1));
}

std::string_view Detokenizer::append(std::int32_t id) {
  text_.clear();
  const std::string_view bytes = tokenizer_.bytes(id);
  if (show_control_ || !tokenizer_.is_control(id)) stream_.append(bytes, text_);
  return text_;
}

std::string_view Detokenizer::flush() {
  text_.clear();
  stream_.flush(text_);
  return text_;
}

}  // namespace assay
