#include "harness/interop/runner/wire.h"

#include <algorithm>

namespace assay::wire {
namespace {

// The first bytes of what came, for a person.
std::string shown(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  std::string letters;
  for (const std::byte byte : bytes.first(std::min<std::size_t>(bytes.size(), 12))) {
    const auto value = std::to_integer<unsigned>(byte);
    hex += (hex.empty() ? "" : " ") + std::string{kDigits[value >> 4], kDigits[value & 15]};
    letters += value >= 32 && value < 127 ? static_cast<char>(value) : '.';
  }
  return hex + " (\"" + letters + "\")";
}

}  // namespace

std::string encode(const Header& header) {
  Writer out;
  out.raw(std::as_bytes(std::span(kMagic)));
  out.number(static_cast<std::uint32_t>(header.kind));
  out.number(header.sequence);
  out.number(header.bytes);
  return out.bytes();
}

Header decode_header(std::span<const std::byte, kHeaderBytes> bytes) {
  Reader in(bytes);
  if (std::memcmp(in.raw(sizeof kMagic, "magic").data(), kMagic, sizeof kMagic) != 0) {
    throw WireError("sent rubbish: " + shown(bytes) + "; expected a frame, which begins with \"ASAY\"");
  }
  const auto kind = in.number<std::uint32_t>("kind");
  const auto sequence = in.number<std::uint64_t>("sequence");
  const auto length = in.number<std::uint64_t>("length");
  if (kind < static_cast<std::uint32_t>(Kind::greeting) || kind > static_cast<std::uint32_t>(Kind::timed)) {
    throw WireError("sent a frame of kind " + std::to_string(kind) + "; expected 1 to 12");
  }
  if (length > kMostBytes) {
    throw WireError("announced a frame of " + std::to_string(length) + " bytes; expected at most " + std::to_string(kMostBytes));
  }
  return {static_cast<Kind>(kind), sequence, length};
}

std::string shown(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string all;
  for (const char letter : text.substr(0, kMostShown)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter >= ' ' && letter <= '~') {
      all += letter;
    } else if (letter == '\n') {
      all += "\\n";
    } else {
      all += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return text.size() > kMostShown ? all + "..." : all;
}

void Writer::text(std::string_view text) {
  number(static_cast<std::uint32_t>(text.size()));
  bytes_ += text;
}

std::span<const std::byte> Reader::raw(std::uint64_t bytes, const char* what) {
  if (bytes > bytes_.size() - at_) {
    throw WireError("sent a payload of " + std::to_string(bytes_.size()) + " bytes that ends within '" + what + "' (" +
                    std::to_string(bytes) + " bytes from " + std::to_string(at_) + " on)");
  }
  const auto found = bytes_.subspan(at_, static_cast<std::size_t>(bytes));
  at_ += static_cast<std::size_t>(bytes);
  return found;
}

std::string Reader::text(const char* what) {
  const auto length = number<std::uint32_t>(what);
  const auto bytes = raw(length, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint32_t Reader::count(std::uint64_t least, const char* what) {
  const auto count = number<std::uint32_t>(what);
  if (count * least > bytes_.size() - at_) {
    throw WireError("sent a payload of " + std::to_string(bytes_.size()) + " bytes with " + std::to_string(count) + " of '" +
                    what + "', more than it can hold");
  }
  return count;
}

void Reader::finish() const {
  if (at_ != bytes_.size()) {
    throw WireError("sent a payload of " + std::to_string(bytes_.size()) + " bytes; expected it to end after " +
                    std::to_string(at_));
  }
}

}  // namespace assay::wire
