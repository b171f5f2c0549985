// Cuts text into the pieces that BPE merges within, by a regular expression.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace assay {

// Of Qwen2 and Qwen3, as their tokenizer.json states it.
inline constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

class PreTokenizer {
 public:
  // Compiles `pattern`, with PCRE2's JIT compiler where this machine has one and `jit` is true; the pieces are the
  // same without. Throws std::runtime_error that gives the pattern and the offset of its error.
  explicit PreTokenizer(std::string_view pattern, bool jit = true);

  // The byte offset in `text` (valid UTF-8) where each piece ends. Each match is a piece, and so is each stretch between
  // two matches; together they are the whole text. \p{L}, \p{N} and \s are those of Unicode 16, as in `tokenizers` 0.23
  // (Oniguruma 6.9.10), whichever Unicode PCRE2 knows. Throws std::runtime_error if the pattern backtracks without end.
  // May be called from several threads at once.
  std::vector<std::size_t> piece_ends(std::string_view text) const;

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::string pattern_;
  std::unique_ptr<pcre2_real_code_8, FreeCode> code_;
};

// The pattern that GGUF's `tokenizer.ggml.pre` names. Throws std::runtime_error that lists the known names.
std::string_view pre_tokenizer_pattern(std::string_view pre);

}  // namespace assay
