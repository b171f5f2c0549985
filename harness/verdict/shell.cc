#include "harness/verdict/shell.h"

#include <fnmatch.h>

#include <string_view>

namespace assay {

bool is_glob(const std::string& word) {
  return word.find_first_of("*?[") != std::string::npos;
}

bool matches(const std::string& word, const std::string& name) {
  return word == name || (is_glob(word) && fnmatch(word.c_str(), name.c_str(), 0) == 0);
}

std::string quoted(const std::string& word) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace assay
