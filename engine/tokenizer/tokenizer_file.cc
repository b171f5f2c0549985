#include "engine/tokenizer/tokenizer_file.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/tokenizer/vocabulary.h"
#include "golden/read_file.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 32;

// Takes the parser's events. A DOM of the whole would be a map of 150,000 nodes and as many arrays of two, which take longer
// to build and free than the file takes to read.
class Reader : public nlohmann::json_sax<Json> {
 public:
  Reader(std::string file_name, TokenizerFile& out) : name_(std::move(file_name)), out_(out) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(std::int64_t v) override { return value(v); }
  bool number_float(double v, const std::string& /*text*/) override { return value(v); }
  bool binary(Json::binary_t& /*v*/) override { fail("", "binary data"); }

  bool number_unsigned(std::uint64_t v) override {
    if (list_ != List::words) return value(v);
    out_.words.emplace_back(std::move(key_), v);
    return true;
  }

  bool string(std::string& v) override {
    if (list_ == List::merges) {
      out_.merges.push_back(std::move(v));
    } else if (list_ == List::pair && parts_ < 2) {
      out_.merges.back() += (parts_++ == 0 ? "" : " ") + v;
    } else {
      value(std::move(v));
    }
    return true;
  }

  bool key(std::string& v) override {
    if (list_ == List::none && open_.back()->contains(v)) fail(v, "the key stands twice in its object");
    key_ = std::move(v);
    return true;
  }

  bool start_object(std::size_t /*size*/) override {
    if (list_ == List::none && at_model() && key_ == "vocab") {
      list_ = List::words;
      out_.has_words = true;
      return true;
    }
    return open(Json::object());
  }

  bool end_object() override { return close(); }

  bool start_array(std::size_t /*size*/) override {
    if (list_ == List::merges) {
      list_ = List::pair;
      parts_ = 0;
      out_.merges.emplace_back();
      return true;
    }
    if (list_ == List::none && at_model() && key_ == "merges") {
      list_ = List::merges;
      out_.has_merges = true;
      return true;
    }
    return open(Json::array());
  }

  bool end_array() override {
    if (list_ != List::pair) return close();
    if (parts_ != 2) refuse_merge();
    list_ = List::merges;
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::detail::exception& error) override {
    throw TokenizerError(name_ + ": " + error.what());
  }

 private:
  // Where events go: into the frame, or into one of the long lists.
  enum class List : std::uint8_t { none, words, merges, pair };

  [[noreturn]] void fail(const std::string& place, const std::string& what) const {
    throw TokenizerError(name_ + ": " + place + ": " + what);
  }

  [[noreturn]] void refuse_merge() const {
    const std::size_t index = out_.merges.size() - (list_ == List::pair ? 1 : 0);
    fail("model.merges[" + std::to_string(index) + "]", "expected two tokens, as \"left right\" or [\"left\", \"right\"]");
  }

  bool at_model() const { return open_.size() == 2 && open_[1] == model_; }

  // Puts a value where the frame is open; one within a long list is of no use there.
  bool value(Json v) {
    add(std::move(v));
    return true;
  }

  Json* add(Json v) {
    if (list_ == List::words) fail("model.vocab." + key_, "expected an id, found " + std::string(v.type_name()));
    if (list_ != List::none) refuse_merge();
    if (open_.empty()) return &(out_.frame = std::move(v));
    if (open_.back()->is_object()) return &((*open_.back())[key_] = std::move(v));
    open_.back()->push_back(std::move(v));
    return &open_.back()->back();
  }

  bool open(Json empty) {
    if (open_.size() == kMaxDepth) fail(key_, "nested deeper than " + std::to_string(kMaxDepth));
    const bool is_model = open_.size() == 1 && key_ == "model";
    open_.push_back(add(std::move(empty)));
    if (is_model) model_ = open_.back();
    return true;
  }

  bool close() {
    if (list_ == List::none) {
      open_.pop_back();
    } else {
      list_ = List::none;
    }
    return true;
  }

  std::string name_;
  TokenizerFile& out_;
  std::vector<Json*> open_;  // containers, the outermost first; an array grows only at its end, after what is open in it closed
  const Json* model_ = nullptr;
  std::string key_;
  List list_ = List::none;
  int parts_ = 0;  // of the pair
};

}  // namespace

TokenizerFile read_tokenizer_file(const std::filesystem::path& path) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const std::runtime_error& error) {
    throw TokenizerError(error.what());
  }
  TokenizerFile file;
  Reader reader(path.string(), file);
  Json::sax_parse(text, &reader);
  return file;
}

}  // namespace assay
