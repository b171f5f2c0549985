// Frames (docs/runner.md) and their fields: little-endian, every length checked before anything is allocated.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay::wire {

static_assert(std::endian::native == std::endian::little, "the protocol's numbers are copied as they lie");

inline constexpr std::uint32_t kProtocol = 7;
inline constexpr char kMagic[4] = {'A', 'S', 'A', 'Y'};
inline constexpr std::size_t kHeaderBytes = 24;

// The largest payload that either side takes.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 33;

enum class Kind : std::uint32_t {
  greeting = 1,  // runner: what it is
  load = 2,      // host: open a plugin
  loaded = 3,    // runner: what the plugin holds
  call = 4,      // host: a placed call
  done = 5,      // runner: statuses, and the memories that changed
  fault = 6,     // runner: what befell the call
  refused = 7,   // runner: the request cannot be met, and why
  prepare = 8,   // host: a call to be timed, in slots
  fill = 9,      // host: fresh data for slots
  ready = 10,    // runner: prepared, or filled
  time = 11,     // host: run slots, once the shared memory says so
  timed = 12,    // runner: their status
};

// What breaks the protocol, in words for people.
class WireError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Header {
  Kind kind;
  std::uint64_t sequence;  // of the request, and again of its answer; 0 in the greeting
  std::uint64_t bytes;     // of the payload
};

std::string encode(const Header& header);
// Throws WireError that shows what came instead of a header.
Header decode_header(std::span<const std::byte, kHeaderBytes> bytes);

// What another program says, as it may be shown: in printable ASCII, on one line, all else as \xNN; of a long text the beginning.
inline constexpr std::size_t kMostShown = 4096;
std::string shown(std::string_view text);

// A payload in the making.
class Writer {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* bytes = reinterpret_cast<const char*>(&value);
    bytes_.append(bytes, sizeof value);
  }
  void raw(std::span<const std::byte> bytes) { bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }
  void text(std::string_view text);  // u32 length, then the bytes
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// A payload being read. Every step throws WireError where the payload is too short.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T number(const char* what) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, raw(sizeof value, what).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> raw(std::uint64_t bytes, const char* what);
  std::string text(const char* what);
  std::string shown_text(const char* what) { return shown(text(what)); }
  // How many of something that takes at least `least` bytes each; more than the payload can hold is an error.
  std::uint32_t count(std::uint64_t least, const char* what);
  // Throws WireError if anything is left.
  void finish() const;

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace assay::wire
