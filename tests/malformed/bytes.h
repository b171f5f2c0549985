// Bytes put together by hand, with lengths that may lie.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace assay::malformed {

using Bytes = std::vector<std::uint8_t>;

// Byte by byte: of insert() GCC 12 believes that it overflows.
template <class T>
void put(Bytes& out, T value) {
  std::uint8_t raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  for (const std::uint8_t byte : raw) out.push_back(byte);
}

inline void put_text(Bytes& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<std::uint8_t>(c));
}

inline void put_bytes(Bytes& out, const Bytes& bytes) {
  for (const std::uint8_t byte : bytes) out.push_back(byte);
}

// A GGUF string whose stated length is `length`, whatever the text's is.
inline Bytes string_of_length(std::uint64_t length, std::string_view text) {
  Bytes out;
  put(out, length);
  put_text(out, text);
  return out;
}

inline Bytes gguf_string(std::string_view text) {
  return string_of_length(text.size(), text);
}

inline Bytes from_text(std::string_view text) {
  return {text.begin(), text.end()};
}

}  // namespace assay::malformed
