#include "golden/printable.h"

namespace assay {

std::string hex_escape(unsigned char byte) {
  static constexpr char kDigits[] = "0123456789abcdef";
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += hex_escape(byte);
    }
  }
  return out;
}

}  // namespace assay
