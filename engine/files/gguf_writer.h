// Writes GGUF version 3: metadata, then tensors as a stream, so that no more than one piece of one tensor is in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/files/gguf.h"
#include "golden/atomic_file.h"

namespace assay {

// add... and declare in any order; then begin(); then write() the tensors' bytes, in the order in which they were declared
// and in pieces of any size; then finish(). The file appears at finish(), whole (golden/atomic_file.h); the keys' and
// tensors' order is that of the calls. Throws std::runtime_error where the file system refuses, std::logic_error for what
// the reader would refuse and for a wrong number of bytes.
class GgufWriter {
 public:
  explicit GgufWriter(const std::filesystem::path& path, std::uint32_t alignment = 32);

  // T: one of GgufType's integers, reals and bool.
  template <class T>
  void add(std::string_view key, T value) {
    static_assert(std::is_arithmetic_v<T>);
    add_raw(key, type_of<T>(), false, 1, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
  }
  template <class T>
  void add_array(std::string_view key, std::span<const T> values) {
    static_assert(std::is_arithmetic_v<T>);
    add_raw(key, type_of<T>(), true, values.size(), {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
  }
  void add_string(std::string_view key, std::string_view value);
  void add_strings(std::string_view key, std::span<const std::string_view> values);
  void add_value(const GgufValue& value);  // as another file holds it

  // Shape as in StoredTensor: in numbers, outermost first.
  void declare(std::string_view name, DType dtype, std::span<const std::int64_t> shape);

  void begin();
  void write(std::span<const std::uint8_t> bytes);
  void finish();

 private:
  struct Tensor {
    std::string name;
    std::uint32_t type;
    std::vector<std::int64_t> shape;
    std::uint64_t size;
  };

  template <class T>
  static constexpr GgufType type_of() {
    if constexpr (std::is_same_v<T, bool>) return GgufType::boolean;
    if constexpr (std::is_same_v<T, float>) return GgufType::f32;
    if constexpr (std::is_same_v<T, double>) return GgufType::f64;
    if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? GgufType::i8 : GgufType::u8;
    if constexpr (sizeof(T) == 2) return std::is_signed_v<T> ? GgufType::i16 : GgufType::u16;
    if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? GgufType::i32 : GgufType::u32;
    return std::is_signed_v<T> ? GgufType::i64 : GgufType::u64;
  }

  void add_raw(std::string_view key, GgufType type, bool is_array, std::uint64_t count, std::span<const std::uint8_t> bytes);
  void pad();

  AtomicFile file_;
  std::uint32_t alignment_;
  std::uint64_t entries_ = 0;
  std::vector<std::uint8_t> metadata_;
  std::vector<std::string> keys_;
  std::vector<Tensor> tensors_;
  bool begun_ = false;
  std::size_t current_ = 0;     // tensor being written
  std::uint64_t written_ = 0;   // bytes of it
  std::uint64_t position_ = 0;  // in the file
};

}  // namespace assay
