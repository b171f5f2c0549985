// Typed look-up of a GGUF file's metadata. Every failure is a ModelFileError that names the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/gguf.h"

namespace assay {

class GgufKeys {
 public:
  GgufKeys(const GgufContents& gguf, const std::string& file) : gguf_(gguf), file_(file) {}

  bool has(std::string_view key) const { return gguf_.find(key) != nullptr; }

  // Of any integer type of the format. The optional forms are empty where the key is absent.
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  std::optional<std::int64_t> optional_integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  double real(std::string_view key) const;  // f32 or f64
  std::string_view string(std::string_view key) const;
  std::optional<std::string_view> optional_string(std::string_view key) const;
  std::optional<bool> optional_boolean(std::string_view key) const;
  const std::vector<std::string_view>& strings(std::string_view key) const;
  const GgufValue& integers(std::string_view key, GgufType type) const;  // an array of that type

  [[noreturn]] void fail(Fault fault, std::string_view key, const std::string& why) const;

 private:
  const GgufValue& require(std::string_view key) const;
  const GgufValue& require(std::string_view key, GgufType type, bool is_array) const;

  const GgufContents& gguf_;
  const std::string& file_;
};

}  // namespace assay
