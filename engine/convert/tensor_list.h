// The tensors of a GGUF file that is to be written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/convert/target.h"
#include "engine/model/config.h"

namespace assay {

struct ListedTensor {
  Role role = Role::embed;
  std::int64_t layer = -1;
  std::string name;
  std::int64_t rows = 0;  // 1 for a norm
  std::int64_t cols = 0;
  DType dtype = DType::f32;

  std::uint64_t row_bytes() const { return static_cast<std::uint64_t>(cols / dtype_numbers(dtype)) * dtype_size(dtype); }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(rows) * row_bytes(); }
  std::vector<std::int64_t> shape() const;  // as the file states it: a norm has one axis
};

// All weights of the model in llama.cpp's order: those of no layer, then layer by layer, each by name. Throws ModelFileError
// (block-shape) that names `file` where a row is no whole number of blocks.
std::vector<ListedTensor> list_tensors(const ModelConfig& config, const Target& target, const std::string& file);

}  // namespace assay
