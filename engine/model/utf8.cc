#include "engine/model/utf8.h"

#include <cstddef>
#include <cstdint>

namespace assay {
namespace {

// Bytes of the sequence that `first` leads, and the range of its second byte (Unicode, table 3-7). Length 0: no lead byte.
struct Lead {
  std::size_t length;
  std::uint8_t least;
  std::uint8_t most;
};

Lead lead(std::uint8_t first) noexcept {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xc2) return {0, 0, 0};
  if (first < 0xe0) return {2, 0x80, 0xbf};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (first < 0xf0) return {3, 0x80, 0xbf};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first < 0xf4) return {4, 0x80, 0xbf};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

bool is_valid_utf8(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    const auto [length, least, most] = lead(byte(at));
    if (length == 0 || length > text.size() - at) return false;
    if (length > 1 && (byte(at + 1) < least || byte(at + 1) > most)) return false;
    for (std::size_t i = 2; i < length; ++i) {
      if ((byte(at + i) & 0xc0) != 0x80) return false;
    }
    at += length;
  }
  return true;
}

}  // namespace assay
