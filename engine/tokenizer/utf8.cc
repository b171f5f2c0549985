#include "engine/tokenizer/utf8.h"

namespace assay {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// What may follow a lead byte (the Unicode standard, table 3-7): the length, and the range of the second byte; further
// bytes are 80..BF. Length 0: no lead byte.
struct Lead {
  std::uint8_t length;
  unsigned char second_low, second_high;
};

Lead lead_of(unsigned char byte) noexcept {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xc2) return {0, 0, 0};
  if (byte < 0xe0) return {2, 0x80, 0xbf};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte < 0xf0) return {3, 0x80, 0xbf};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte < 0xf4) return {4, 0x80, 0xbf};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

void Utf8Stream::append_byte(unsigned char byte, std::string& out) {
  if (size_ != 0) {
    const Lead lead = lead_of(static_cast<unsigned char>(begun_[0]));
    const bool continues = size_ == 1 ? byte >= lead.second_low && byte <= lead.second_high : byte >= 0x80 && byte <= 0xbf;
    if (continues) {
      begun_[size_++] = static_cast<char>(byte);
      if (size_ == length_) {
        out.append(begun_.data(), size_);
        size_ = 0;
      }
      return;
    }
    out += kReplacement;
    size_ = 0;
  }
  const Lead lead = lead_of(byte);
  if (lead.length == 0) {
    out += kReplacement;
  } else if (lead.length == 1) {
    out += static_cast<char>(byte);
  } else {
    begun_[0] = static_cast<char>(byte);
    size_ = 1;
    length_ = lead.length;
  }
}

void Utf8Stream::append(std::string_view bytes, std::string& out) {
  for (const char c : bytes) append_byte(static_cast<unsigned char>(c), out);
}

void Utf8Stream::flush(std::string& out) {
  if (size_ != 0) out += kReplacement;
  size_ = 0;
}

std::string to_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  Utf8Stream stream;
  stream.append(bytes, out);
  stream.flush(out);
  return out;
}

bool is_valid_utf8(std::string_view bytes) noexcept {
  const auto byte = [bytes](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [length, second_low, second_high] = lead_of(byte(at));
    if (length == 0 || length > bytes.size() - at) return false;
    if (length > 1 && (byte(at + 1) < second_low || byte(at + 1) > second_high)) return false;
    for (std::size_t i = 2; i < length; ++i) {
      if ((byte(at + i) & 0xc0) != 0x80) return false;
    }
    at += length;
  }
  return true;
}

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = static_cast<unsigned char>(text[at++]);
  const std::uint8_t length = lead_of(byte).length;
  if (length == 1) return byte;
  char32_t code_point = byte & (0xffU >> (length + 1));
  for (int i = 1; i < length; ++i) code_point = code_point << 6 | (static_cast<unsigned char>(text[at++]) & 0x3fU);
  return code_point;
}

void append_code_point(char32_t code_point, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code_point >> shift & 0x3f)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xc0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace assay
