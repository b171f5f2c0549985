// tokenizer.json, and text for a tokenizer.
#include <algorithm>

#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/tokenizer_json.h"
#include "engine/tokenizer/utf8.h"
#include "harness/verdict/suite.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/targets.h"

namespace assay::fuzz {
namespace {

constexpr std::string_view kTexts[] = {"", "In the beginning", " 12  <|im_end|>\n\n", "caf\xc3\xa9 e\xcc\x81 \xf0\x9f\x98\x80",
                                       "\xff\xc3\x28"};

void require_ids(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  require(std::all_of(ids.begin(), ids.end(), [&](std::int32_t id) { return id >= 0 && id < tokenizer.size(); }),
          "an id outside the vocabulary");
}

// Whatever was given out is UTF-8, and all at once what it is piece by piece.
void require_text(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  const std::string whole = tokenizer.decode(ids, false);
  require(is_valid_utf8(whole), "decoded text that is no UTF-8");
  Detokenizer pieces(tokenizer);
  std::string joined;
  for (const std::int32_t id : ids) joined += pieces.append(id);
  joined += pieces.flush();
  require(joined == whole, "text of tokens one by one is not that of all");
}

void use(const Tokenizer& tokenizer) {
  for (const std::string_view text : kTexts) {
    const std::vector<std::int32_t> ids = tokenizer.encode(text);
    require_ids(tokenizer, ids);
    require_text(tokenizer, ids);
  }
}

}  // namespace

void run_tokenizer(Input input) {
  const MemoryFile file(input);
  try {
    static_cast<void>(eos_from_tokenizer_config(file.path()));
  } catch (const TokenizerError& error) {
    require_harmless(error.what());
  }
  try {
    Vocabulary vocabulary = vocabulary_from_tokenizer_json(file.path());
    use(Tokenizer(std::move(vocabulary)));
  } catch (const TokenizerError& error) {
    require_harmless(error.what());
  } catch (const std::logic_error&) {
    throw;
  } catch (const std::runtime_error& error) {  // a pattern that does not compile, or that takes too long
    require_harmless(error.what());
  }
}

void run_text(Input input) {
  static const Tokenizer tokenizer(vocabulary_from_tokenizer_json(own_golden() / "models" / "kjv" / "tokenizer.json"));
  const std::string_view text = text_of(input);
  const std::vector<std::int32_t> plain = tokenizer.encode(text, Specials::as_text);
  require_ids(tokenizer, plain);
  require(tokenizer.decode(plain) == tokenizer.normalise(to_utf8(text)), "tokens that do not spell their text");
  const std::vector<std::int32_t> matched = tokenizer.encode(text);
  require_ids(tokenizer, matched);
  require_text(tokenizer, matched);
}

}  // namespace assay::fuzz
