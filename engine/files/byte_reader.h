// Reads little-endian fields from bytes one after the other and never past their end.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "engine/files/file_error.h"

namespace assay {

class ByteReader {
 public:
  ByteReader(std::span<const std::uint8_t> bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  const std::string& file() const { return file_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t remaining() const { return bytes_.size() - offset_; }

  // `subject` says in an error what was being read.
  template <class T>
  T read(std::string_view subject) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value, subject).data(), sizeof value);
    return value;
  }

  std::span<const std::uint8_t> take(std::uint64_t count, std::string_view subject) {
    if (count > remaining()) {
      fail(Fault::truncated, subject,
           std::to_string(count) + " bytes expected, " + std::to_string(remaining()) + " are left in the file");
    }
    const auto taken = bytes_.subspan(offset_, count);
    offset_ += count;
    return taken;
  }

  // A length of 64 bits, then that many bytes.
  std::string_view string(std::string_view subject) {
    const std::uint64_t start = offset_;
    const auto length = read<std::uint64_t>(subject);
    if (length > remaining()) {
      fail_at(start, Fault::count, subject,
              "string of " + std::to_string(length) + " bytes, " + std::to_string(remaining()) + " are left in the file");
    }
    const auto text = take(length, subject);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  [[noreturn]] void fail(Fault fault, std::string_view subject, const std::string& why) const {
    fail_at(offset_, fault, subject, why);
  }
  [[noreturn]] void fail_at(std::uint64_t offset, Fault fault, std::string_view subject, const std::string& why) const {
    throw ModelFileError(fault, {file_, offset, std::string(subject)}, why);
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::string file_;
  std::uint64_t offset_ = 0;
};

}  // namespace assay
