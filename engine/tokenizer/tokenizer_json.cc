#include "engine/tokenizer/tokenizer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/tokenizer/tokenizer_file.h"

namespace assay {
namespace {

using Json = nlohmann::json;

// A value in the file and the way to it ("model.merges[12]").
class Node {
 public:
  Node(const std::string& file, std::string place, const Json& value) : file_(&file), place_(std::move(place)), value_(&value) {}

  const Json& value() const { return *value_; }
  const std::string& place() const { return place_; }

  [[noreturn]] void expected(const std::string& what) const {
    std::string found = value_->dump(-1, ' ', true);
    if (found.size() > 80) found = found.substr(0, 77) + "...";
    throw TokenizerError(*file_ + ": " + (place_.empty() ? "the whole" : place_) + ": expected " + what + ", found " + found);
  }

  // The member `key`, null if it is absent.
  Node operator[](const char* key) const {
    static const Json absent;
    if (!value_->is_object()) expected("an object");
    const auto found = value_->find(key);
    return {*file_, place_.empty() ? key : place_ + "." + key, found == value_->end() ? absent : *found};
  }
  Node at(std::size_t index) const { return {*file_, place_ + "[" + std::to_string(index) + "]", (*value_)[index]}; }

  const std::string& string() const {
    if (!value_->is_string()) expected("a string");
    return value_->get_ref<const std::string&>();
  }
  std::size_t array_size() const {
    if (!value_->is_array()) expected("an array");
    return value_->size();
  }
  void must_be(const Json& one) const { must_be_one_of({one}); }
  // Compares members of a list of values; null stands for an absent one too.
  void must_be_one_of(const std::vector<Json>& values) const {
    std::string list;
    for (const Json& value : values) {
      if (*value_ == value) return;
      list += (list.empty() ? "" : " or ") + value.dump();
    }
    expected(list);
  }

 private:
  const std::string* file_;
  std::string place_;
  const Json* value_;
};

void check_model(const Node& model) {
  model["type"].must_be("BPE");
  model["dropout"].must_be(nullptr);
  model["unk_token"].must_be(nullptr);
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) model[key].must_be_one_of({nullptr, ""});
  for (const char* key : {"fuse_unk", "byte_fallback", "ignore_merges"}) model[key].must_be_one_of({false, nullptr});
}

std::string read_pattern(const Node& pre_tokenizer) {
  pre_tokenizer["type"].must_be("Sequence");
  const Node steps = pre_tokenizer["pretokenizers"];
  if (steps.array_size() != 2) steps.expected("two steps, Split and ByteLevel");
  const Node split = steps.at(0);
  split["type"].must_be("Split");
  split["behavior"].must_be("Isolated");
  split["invert"].must_be_one_of({false, nullptr});
  const Node bytes = steps.at(1);
  bytes["type"].must_be("ByteLevel");
  bytes["add_prefix_space"].must_be(false);
  bytes["use_regex"].must_be(false);
  return split["pattern"]["Regex"].string();
}

void check_frame(const Node& root) {
  root["version"].must_be_one_of({"1.0", nullptr});
  root["truncation"].must_be(nullptr);
  root["padding"].must_be(nullptr);
  root["decoder"]["type"].must_be("ByteLevel");
  if (!root["post_processor"].value().is_null()) root["post_processor"]["type"].must_be("ByteLevel");
  if (!root["normalizer"].value().is_null()) root["normalizer"]["type"].must_be("NFC");
}

// Puts tokens at their ids, each id once and none left out.
class TokenList {
 public:
  TokenList(Vocabulary& vocabulary, std::size_t most) : vocabulary_(vocabulary), there_(most) {
    vocabulary.tokens.resize(most);
    vocabulary.types.assign(most, TokenType::normal);
  }

  // `place` says where the token stands in the file, for messages. A token may come again with the id it has.
  template <class Place>
  void put(std::uint64_t id, std::string token, TokenType type, Place place) {
    if (id >= there_.size())
      fail(place() + ": id " + std::to_string(id) + "; expected one below the number of tokens, " +
           std::to_string(there_.size()));
    if (there_[id] && vocabulary_.tokens[id] != token) {
      fail(place() + ": id " + std::to_string(id) + " is that of '" + vocabulary_.tokens[id] + "'");
    }
    there_[id] = true;
    end_ = std::max(end_, static_cast<std::size_t>(id) + 1);
    vocabulary_.tokens[id] = std::move(token);
    vocabulary_.types[id] = type;
  }

  void finish() {
    for (std::size_t id = 0; id < end_; ++id) {
      if (!there_[id]) fail("no token has id " + std::to_string(id) + ", and one has " + std::to_string(end_ - 1));
    }
    vocabulary_.tokens.resize(end_);
    vocabulary_.types.resize(end_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw TokenizerError(vocabulary_.source + ": " + what); }

  Vocabulary& vocabulary_;
  std::vector<bool> there_;
  std::size_t end_ = 0;
};

void read_tokens(TokenizerFile& file, const Node& added, Vocabulary& vocabulary) {
  const std::size_t added_count = added.value().is_null() ? 0 : added.array_size();
  TokenList tokens(vocabulary, file.words.size() + added_count);
  for (auto& [word, id] : file.words) {
    tokens.put(id, std::move(word), TokenType::normal, [&, id = id] { return "model.vocab, id " + std::to_string(id); });
  }
  for (std::size_t i = 0; i < added_count; ++i) {
    const Node token = added.at(i);
    for (const char* key : {"single_word", "lstrip", "rstrip", "normalized"}) token[key].must_be(false);
    token["special"].must_be_one_of({true, false});
    const bool special = token["special"].value().get<bool>();
    const Node id = token["id"];
    if (!id.value().is_number_unsigned()) id.expected("an id");
    tokens.put(id.value().get<std::uint64_t>(), token["content"].string(), special ? TokenType::control : TokenType::user_defined,
               [&] { return id.place(); });
  }
  tokens.finish();
}

}  // namespace

Vocabulary vocabulary_from_tokenizer_json(const std::filesystem::path& path) {
  TokenizerFile file = read_tokenizer_file(path);
  Vocabulary vocabulary;
  vocabulary.source = path.string();
  const Node root(vocabulary.source, "", file.frame);
  check_frame(root);
  check_model(root["model"]);
  if (!file.has_words) root["model"]["vocab"].expected("an object of ids by token");
  if (!file.has_merges) root["model"]["merges"].expected("an array");
  vocabulary.pattern = read_pattern(root["pre_tokenizer"]);
  vocabulary.nfc = !root["normalizer"].value().is_null();
  read_tokens(file, root["added_tokens"], vocabulary);
  vocabulary.merges = std::move(file.merges);
  return vocabulary;
}

std::optional<std::string> eos_from_tokenizer_config(const std::filesystem::path& path) {
  const TokenizerFile json = read_tokenizer_file(path);
  const std::string file = path.string();
  const Node eos = Node(file, "", json.frame)["eos_token"];
  if (eos.value().is_null()) return std::nullopt;
  return eos.value().is_object() ? eos["content"].string() : eos.string();
}

}  // namespace assay
