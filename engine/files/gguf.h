// GGUF, versions 2 and 3, little endian: header, metadata, tensors. Format: ggml's docs/gguf.md; what is refused and why:
// docs/model-files.md.
#pragma once

#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "engine/files/file_error.h"
#include "engine/files/mapped_file.h"
#include "engine/files/stored_tensor.h"

namespace assay {

// Numbers are the format's.
enum class GgufType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

std::string_view gguf_type_name(GgufType type) noexcept;
// Bytes of an element; 0 for string and array.
std::size_t gguf_type_size(GgufType type) noexcept;

// ggml's number of an element type, and back; nullopt for those that this project has no kernel for.
std::optional<std::uint32_t> gguf_tensor_type(DType dtype) noexcept;

// A key and its value, as views of the file's bytes.
struct GgufValue {
  std::string_view key;
  GgufType type = GgufType::u8;  // of the value or, in an array, of its elements; never `array`
  bool is_array = false;
  std::uint64_t count = 1;              // elements
  std::uint64_t offset = 0;             // of the key in the file
  std::span<const std::uint8_t> bytes;  // the elements as stored (unaligned); of strings, lengths included
  std::vector<std::string_view> strings;

  template <class T>
  T element(std::uint64_t index) const {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
    return value;
  }
};

struct GgufContents {
  std::uint32_t version = 0;
  std::uint64_t alignment = 32;
  std::uint64_t data_offset = 0;      // of the first tensor
  std::vector<GgufValue> metadata;    // in the file's order
  std::vector<StoredTensor> tensors;  // in the file's order

  const GgufValue* find(std::string_view key) const noexcept;  // nullptr if there is none
};

// Reads a whole file's bytes; `file` is its name in errors. Throws ModelFileError. The result's views are into `bytes`.
// Memory: less than eight times the metadata's bytes, whatever these claim.
GgufContents parse_gguf(std::span<const std::uint8_t> bytes, const std::string& file);

// A mapped GGUF file.
class GgufFile {
 public:
  explicit GgufFile(const std::filesystem::path& path) : file_(path), contents_(parse_gguf(file_.bytes(), file_.name())) {}

  const std::string& name() const { return file_.name(); }
  const GgufContents& contents() const { return contents_; }

 private:
  MappedFile file_;
  GgufContents contents_;
};

}  // namespace assay
