// Mutation of HDF5 recipes by lines and words; other inputs, and half of these, are libFuzzer's own to mutate.
#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzzer.h"

// libFuzzer's.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace assay::fuzz {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kWords[] = {"f32",
                                       "f64",
                                       "f16",
                                       "i8",
                                       "i32",
                                       "i64",
                                       "u8",
                                       "u16",
                                       "u64",
                                       "be32",
                                       "text",
                                       "words",
                                       "pair",
                                       "enum",
                                       "scalar",
                                       "null",
                                       "0",
                                       "1x0",
                                       "1",
                                       "2x3",
                                       "-1",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "18446744073709551615",
                                       "4294967296",
                                       "2147483648",
                                       "1x1x1x1x1x1x1x1x1",
                                       "65536x65536x65536x65536",
                                       "plain",
                                       "compact",
                                       "chunks",
                                       "deflate",
                                       "fletcher",
                                       "unwritten",
                                       "outside",
                                       "virtual",
                                       "i",
                                       "r",
                                       "s",
                                       "v",
                                       "b",
                                       "a",
                                       "dtype",
                                       "bfloat16",
                                       "q4_0",
                                       "q8_0",
                                       "q4_k",
                                       "q6_k_x16",
                                       "step",
                                       "schema",
                                       "status",
                                       "tags",
                                       "ok",
                                       "bad_shape",
                                       "nan",
                                       "inf",
                                       "1e308",
                                       "gauss",
                                       "wide",
                                       "bits",
                                       "index",
                                       "sequence",
                                       "blocks",
                                       "denormal"};

class Cutter {
 public:
  Cutter(std::string_view text, unsigned seed) : random_(seed) {
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
    if (lines_.empty()) lines_.emplace_back();
  }

  std::string cut() {
    const std::size_t changes = 1 + below(3);
    for (std::size_t i = 0; i < changes; ++i) change();
    std::string out;
    for (const std::string& line : lines_) out += line + "\n";
    return out;
  }

 private:
  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

  void change() {
    const std::size_t at = below(lines_.size());
    switch (below(6)) {
      case 0:
        if (lines_.size() > 1) lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(at));
        return;
      case 1:
        return lines_[at].swap(lines_[below(lines_.size())]);
      case 2: {  // a copy of a line, with a word of another
        std::string copy = lines_[at];
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(below(lines_.size())), std::move(copy));
        return;
      }
      case 3:
        return replace_word(lines_[at], words_of(lines_[below(lines_.size())]));
      default:
        return replace_word(lines_[at], {std::string(kWords[below(std::size(kWords))])});
    }
  }

  static std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
  }

  void replace_word(std::string& line, const std::vector<std::string>& others) {
    std::vector<std::string> words = words_of(line);
    if (words.empty() || others.empty()) return;
    words[below(words.size())] = others[below(others.size())];
    line.clear();
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  }

  std::mt19937 random_;
  Lines lines_;
};

}  // namespace
}  // namespace assay::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (!assay::fuzz::fuzzes_recipes() || seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string text = assay::fuzz::Cutter({reinterpret_cast<const char*>(data), size}, seed).cut();
  const std::size_t bytes = std::min(text.size(), most);
  std::memcpy(data, text.data(), bytes);
  return bytes;
}
