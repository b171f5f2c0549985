#include "engine/tokenizer/tokenizer_json.h"

#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

namespace assay {
namespace {

using Json = nlohmann::json;

// A value in the file and the way to it ("model.merges[12]").
class Node {
 public:
  Node(const std::string& file, std::string place, const Json& value) : file_(&file), place_(std::move(place)), value_(&value) {}

  const Json& value() const { return *value_; }

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
  std::size_t id_below(std::size_t count) const {
    if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() >= count) {
      expected("an id below " + std::to_string(count) + ", the number of tokens");
    }
    return value_->get<std::size_t>();
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

Json parse(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw TokenizerError(path.string() + ": cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw TokenizerError(path.string() + ": " + error.what());
  }
}

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

// Fills `tokens` by id, each id once.
class TokenList {
 public:
  TokenList(Vocabulary& vocabulary, std::size_t count) : vocabulary_(vocabulary), there_(count) {
    vocabulary.tokens.resize(count);
    vocabulary.types.assign(count, TokenType::normal);
  }

  void put(const Node& id, const std::string& token, TokenType type) {
    const std::size_t at = id.id_below(there_.size());
    if (there_[at] && vocabulary_.tokens[at] != token) id.expected("an id of its own; it is that of '" + vocabulary_.tokens[at] + "'");
    there_[at] = true;
    vocabulary_.tokens[at] = token;
    vocabulary_.types[at] = type;
  }

  void check_complete() const {
    for (std::size_t id = 0; id < there_.size(); ++id) {
      if (!there_[id]) throw TokenizerError(vocabulary_.source + ": no token has id " + std::to_string(id));
    }
  }

 private:
  Vocabulary& vocabulary_;
  std::vector<bool> there_;
};

void read_tokens(const Node& root, Vocabulary& vocabulary) {
  const Json& words = root["model"]["vocab"].value();
  if (!words.is_object()) root["model"]["vocab"].expected("an object of ids by token");
  const Node added = root["added_tokens"];
  const std::size_t added_count = added.value().is_null() ? 0 : added.array_size();
  std::size_t count = words.size();
  for (std::size_t i = 0; i < added_count; ++i) count += words.contains(added.at(i)["content"].string()) ? 0 : 1;

  TokenList tokens(vocabulary, count);
  for (const auto& [word, id] : words.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= count) root["model"]["vocab"][word.c_str()].id_below(count);
    tokens.put(Node(vocabulary.source, "", id), word, TokenType::normal);
  }
  for (std::size_t i = 0; i < added_count; ++i) {
    const Node token = added.at(i);
    for (const char* key : {"single_word", "lstrip", "rstrip", "normalized"}) token[key].must_be(false);
    token["special"].must_be_one_of({true, false});
    const bool special = token["special"].value() == true;
    tokens.put(token["id"], token["content"].string(), special ? TokenType::control : TokenType::user_defined);
  }
  tokens.check_complete();
}

// A merge is "left right" or, in newer files, ["left", "right"].
void read_merges(const Node& merges, Vocabulary& vocabulary) {
  const std::size_t count = merges.array_size();
  vocabulary.merges.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Json& merge = merges.value()[i];
    if (merge.is_string()) {
      vocabulary.merges.push_back(merge.get_ref<const std::string&>());
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      vocabulary.merges.push_back(merge[0].get_ref<const std::string&>() + " " + merge[1].get_ref<const std::string&>());
    } else {
      merges.at(i).expected("two tokens, as \"left right\" or [\"left\", \"right\"]");
    }
  }
}

}  // namespace

Vocabulary vocabulary_from_tokenizer_json(const std::filesystem::path& path) {
  const Json json = parse(path);
  Vocabulary vocabulary;
  vocabulary.source = path.string();
  const Node root(vocabulary.source, "", json);
  check_frame(root);
  check_model(root["model"]);
  vocabulary.pattern = read_pattern(root["pre_tokenizer"]);
  vocabulary.nfc = !root["normalizer"].value().is_null();
  read_tokens(root, vocabulary);
  read_merges(root["model"]["merges"], vocabulary);
  return vocabulary;
}

std::optional<std::string> eos_from_tokenizer_config(const std::filesystem::path& path) {
  const Json json = parse(path);
  const std::string file = path.string();
  const Node eos = Node(file, "", json)["eos_token"];
  if (eos.value().is_null()) return std::nullopt;
  return eos.value().is_object() ? eos["content"].string() : eos.string();
}

}  // namespace assay
