// safetensors: one file, or several with an index. Format: https://github.com/huggingface/safetensors; what is refused and
// why: docs/model-files.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/files/file_error.h"
#include "engine/files/mapped_file.h"
#include "engine/files/stored_tensor.h"

namespace assay {

// A file whose header does not end at a multiple of eight, as MLX writes it, is copied so that its data lie at one.
MappedFile map_safetensors(const std::filesystem::path& path);

// Reads a whole file's bytes: its tensors in the order of their data. `file` is its name in errors. Throws ModelFileError.
std::vector<StoredTensor> parse_safetensors(std::span<const std::uint8_t> bytes, const std::string& file);

// The weights of a Hugging Face folder, mapped: model.safetensors, or the shards that model.safetensors.index.json names.
class SafetensorsFolder {
 public:
  // Throws ModelFileError, also where index and shards do not name the same tensors or a shard is no plain file name.
  explicit SafetensorsFolder(const std::filesystem::path& folder);

  const std::string& name() const { return name_; }  // of the single file or of the index
  const std::vector<StoredTensor>& tensors() const { return tensors_; }

 private:
  void add_shards(const std::filesystem::path& folder);

  std::string name_;
  std::vector<MappedFile> files_;
  std::vector<StoredTensor> tensors_;
};

}  // namespace assay
