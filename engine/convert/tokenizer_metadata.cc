#include "engine/convert/tokenizer_metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/files/file_error.h"
#include "engine/files/strict_json.h"
#include "engine/model/json_members.h"
#include "engine/tokenizer/tokenizer_json.h"

namespace assay {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;  // of a JSON file beside the tokenizer's, and of a template

using nlohmann::json;

json read_if_there(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? read_strict_json(MappedFile(path), kMostBytes) : json::object();
}

// The spelling of a special token: a string, or an object with the string `content`.
std::optional<std::string> spelling(const json& config, const std::string& file, const std::string& name) {
  const JsonMembers members(config, file);
  const json* value = members.find(name);
  if (value == nullptr) return std::nullopt;
  return value->is_object() ? JsonMembers(*value, file, name + ".").string("content") : members.string(name);
}

// tokenizer_config.json names tokens, config.json gives ids: the name goes first, as llama.cpp's converter has it.
class SpecialIds {
 public:
  SpecialIds(const std::filesystem::path& folder, const Vocabulary& vocabulary)
      : named_file_((folder / "tokenizer_config.json").string()),
        numbered_file_((folder / "config.json").string()),
        named_(read_if_there(named_file_)),
        numbered_(read_if_there(numbered_file_)),
        vocabulary_(vocabulary) {}

  // `kind`: "eos", "bos", "pad".
  std::optional<std::int64_t> id(const std::string& kind) const {
    if (const auto name = spelling(named_, named_file_, kind + "_token")) return id_of(kind, *name);
    const JsonMembers members(numbered_, numbered_file_);
    const std::string key = kind + "_token_id";
    if (members.find(key) == nullptr) return std::nullopt;
    return members.integer(key, 0, static_cast<std::int64_t>(vocabulary_.tokens.size()) - 1);
  }

  std::string chat_template() const { return JsonMembers(named_, named_file_).optional_string("chat_template").value_or(""); }

 private:
  std::int64_t id_of(const std::string& kind, const std::string& name) const {
    const auto& tokens = vocabulary_.tokens;
    const auto found = std::find(tokens.begin(), tokens.end(), name);
    if (found == tokens.end()) {
      throw ModelFileError(Fault::vocabulary, {named_file_, {}, kind + "_token"}, "no token is spelt " + shown(name));
    }
    return found - tokens.begin();
  }

  std::string named_file_, numbered_file_;
  json named_, numbered_;
  const Vocabulary& vocabulary_;
};

std::string read_template(const std::filesystem::path& path) {
  const MappedFile file(path);
  if (file.bytes().size() > kMostBytes) {
    throw ModelFileError(Fault::count, {file.name(), {}, {}}, "a chat template of more than 1 MiB");
  }
  return {file.bytes().begin(), file.bytes().end()};
}

void check_pattern(const Vocabulary& vocabulary) {
  if (vocabulary.pattern == kQwen2Pattern) return;
  throw TokenizerError(vocabulary.source + ": the pre-tokeniser's pattern is not Qwen2's, and GGUF has a name for no other: " +
                       shown(vocabulary.pattern));
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

void pad_vocabulary(Vocabulary& vocabulary, std::int64_t rows) {
  if (std::ssize(vocabulary.tokens) > rows) {
    throw TokenizerError(vocabulary.source + ": " + std::to_string(vocabulary.tokens.size()) + " tokens; the embedding has " +
                         std::to_string(rows) + " rows");
  }
  while (std::ssize(vocabulary.tokens) < rows) {
    vocabulary.tokens.push_back("[PAD" + std::to_string(vocabulary.tokens.size()) + "]");
    vocabulary.types.push_back(TokenType::unused);
  }
}

TokenizerMetadata read_tokenizer_metadata(const std::filesystem::path& folder, std::int64_t rows) {
  TokenizerMetadata out{vocabulary_from_tokenizer_json(folder / "tokenizer.json"), {}, {}, {}, {}};
  check_pattern(out.vocabulary);
  pad_vocabulary(out.vocabulary, rows);
  const SpecialIds special(folder, out.vocabulary);
  out.bos = special.id("bos");
  out.eos = special.id("eos");
  out.padding = special.id("pad");
  const std::filesystem::path jinja = folder / "chat_template.jinja";
  out.chat_template = std::filesystem::exists(jinja) ? read_template(jinja) : special.chat_template();
  return out;
}

void write_tokenizer(const TokenizerMetadata& tokenizer, GgufWriter& writer) {
  const Vocabulary& vocabulary = tokenizer.vocabulary;
  std::vector<std::int32_t> types;
  for (const TokenType type : vocabulary.types) types.push_back(static_cast<std::int32_t>(type));
  writer.add_string("tokenizer.ggml.model", "gpt2");
  writer.add_string("tokenizer.ggml.pre", "qwen2");
  writer.add_strings("tokenizer.ggml.tokens", views(vocabulary.tokens));
  writer.add_array<std::int32_t>("tokenizer.ggml.token_type", types);
  writer.add_strings("tokenizer.ggml.merges", views(vocabulary.merges));
  const auto id = [&writer](std::string_view key, std::optional<std::int64_t> value) {
    if (value) writer.add(key, static_cast<std::uint32_t>(*value));
  };
  id("tokenizer.ggml.eos_token_id", tokenizer.eos);
  id("tokenizer.ggml.padding_token_id", tokenizer.padding);
  id("tokenizer.ggml.bos_token_id", tokenizer.bos);
  writer.add("tokenizer.ggml.add_bos_token", false);
  if (!tokenizer.chat_template.empty()) writer.add_string("tokenizer.chat_template", tokenizer.chat_template);
}

}  // namespace assay
