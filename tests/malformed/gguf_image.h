// A GGUF file as parts that can be spoilt one by one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/files/file_error.h"
#include "tests/malformed/bytes.h"
#include "tests/malformed/malformed.h"

namespace assay::malformed {

// GGUF's numbers of value types.
enum ValueType : std::uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

struct EntryImage {
  std::string label;
  Bytes key;    // encoded, with its length
  Bytes value;  // type and payload
};

struct TensorImage {
  std::string label;
  Bytes name;  // encoded, with its length
  std::optional<std::uint32_t> rank;
  std::vector<std::uint64_t> dims;  // innermost first, as the file has them
  std::uint32_t type = 0;
  std::optional<std::uint64_t> offset;  // where the preceding tensor ends, unless stated
  std::uint64_t size = 0;               // bytes that are really there
};

struct GgufImage {
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::optional<std::uint64_t> tensor_count;
  std::optional<std::uint64_t> entry_count;
  std::vector<EntryImage> entries;
  std::vector<TensorImage> tensors;
  std::uint64_t alignment = 32;

  Bytes build() const;
  std::uint64_t offset_of(const std::string& key) const;  // of an entry in the built file

  EntryImage& entry(const std::string& key);
  TensorImage& tensor(const std::string& name);
  void set(const std::string& key, Bytes value);  // replaces or appends
  void erase_entry(const std::string& key);
  void erase_tensor(const std::string& name);
};

// A value: its type, then its payload.
template <class T>
Bytes scalar(ValueType type, T value) {
  Bytes out;
  put<std::uint32_t>(out, type);
  put(out, value);
  return out;
}
Bytes text(std::string_view value);
Bytes strings(const std::vector<std::string>& values);
// An array that states `count` elements and holds `payload`.
Bytes array(ValueType element, std::uint64_t count, const Bytes& payload);

// Qwen3 of two layers, 32 wide, two heads of 16 over one kv head, eight tokens; norms F32, matrices Q8_0, embedding F16, tied.
GgufImage right_gguf();

// A case of one GGUF file that `spoil` makes out of the right one.
Case gguf_case(const std::string& name, const std::string& mechanism, Fault fault, const std::string& mentions,
               const std::function<void(GgufImage&)>& spoil);

}  // namespace assay::malformed
