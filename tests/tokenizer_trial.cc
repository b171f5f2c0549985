#include "tests/tokenizer_trial.h"

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/tokenizer_json.h"
#include "harness/verdict/suite.h"

namespace assay {

std::filesystem::path kjv_folder() {
  return own_golden() / "models" / "kjv";
}

const Tokenizer& kjv_tokenizer() {
  static const Tokenizer tokenizer(vocabulary_from_tokenizer_json(kjv_folder() / "tokenizer.json"));
  return tokenizer;
}

Vocabulary bytes_and(const std::vector<std::pair<std::string, TokenType>>& more, std::vector<std::string> merges) {
  Vocabulary vocabulary;
  vocabulary.source = "trial";
  for (unsigned byte = 0; byte < 256; ++byte) {
    append_code_point(alphabet_letter(static_cast<unsigned char>(byte)), vocabulary.tokens.emplace_back());
  }
  vocabulary.types.assign(256, TokenType::normal);
  for (const auto& [token, type] : more) {
    vocabulary.tokens.push_back(token);
    vocabulary.types.push_back(type);
  }
  vocabulary.merges = std::move(merges);
  return vocabulary;
}

}  // namespace assay
