// A model file in another type: GGUF from GGUF or from Hugging Face's layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "engine/convert/tensor_list.h"

namespace assay {

// Before each tensor: which, its place, and how many there are.
using ConvertProgress = std::function<void(const ListedTensor&, std::size_t index, std::size_t count)>;

struct QuantizeRequest {
  std::filesystem::path in;  // a GGUF file or a Hugging Face folder, weights in f32, f16 or bf16
  std::filesystem::path out;
  const Target* target = nullptr;
  int threads = 1;
  ConvertProgress progress;  // may be empty
};

// Writes `out`, whole or not at all, and returns its tensors in its order; metadata as engine/convert/metadata.h says. No more than
// a piece of one tensor is in memory at a time, and the bytes depend neither on `threads` nor on the ISA. Throws
// ModelFileError for what the loader refuses, for weights that are quantised already, rows that are no whole number of
// blocks, and numbers that the type does not hold; std::runtime_error where the file system refuses.
std::vector<ListedTensor> quantize(const QuantizeRequest& request);

}  // namespace assay
