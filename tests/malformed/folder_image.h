// A Hugging Face folder as text and bytes that can be spoilt one by one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/malformed/malformed.h"

namespace assay::malformed {

// One tensor of a safetensors header; members are JSON text, so that they may be anything.
struct HeaderEntry {
  std::string name;
  std::string dtype = "\"BF16\"";
  std::string shape;
  std::string offsets;
  std::uint64_t size = 0;  // bytes that are really there

  std::string text() const;
};

struct SafetensorsImage {
  std::vector<HeaderEntry> entries;

  std::string header() const;
  Bytes build() const;
  HeaderEntry& entry(const std::string& name);
};

// `header` with its length before it, and `data` bytes behind it.
Bytes safetensors_file(const std::string& header, std::uint64_t data);

// The same model as right_gguf()'s, in bf16.
SafetensorsImage right_safetensors();
std::string right_config();
std::map<std::string, Bytes> right_folder();
// The same with the tensors of layer 1 and the last norm in a second shard.
std::map<std::string, Bytes> right_shards();
inline constexpr const char* kFirstShard = "model-00001-of-00002.safetensors";
inline constexpr const char* kSecondShard = "model-00002-of-00002.safetensors";
inline constexpr const char* kIndex = "model.safetensors.index.json";

// `text` with the one occurrence of `from` replaced; throws std::logic_error unless there is exactly one.
std::string replaced(const std::string& text, const std::string& from, const std::string& to);

}  // namespace assay::malformed
