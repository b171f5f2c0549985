// The types that matrices in files have: numbers, and the rows of kernels/formats/formats.inc.
#pragma once

#include "golden/dtype.h"

namespace assay {

struct StoredType {
  DType dtype;
  int gguf;           // ggml's number of the type; -1: files have no tensors of it
  int file_type;      // general.file_type of a file of such matrices, llama.cpp's number; -1: there is none
  DType activations;  // what activations are quantised to against it
};

inline constexpr StoredType kStoredTypes[] = {
    {DType::f32, 0, 0, DType::f32},
    {DType::f16, 1, 1, DType::f32},
    {DType::bf16, 30, 32, DType::f32},
#define ASSAY_FORMAT(name, gguf, elements, bytes, activations, file_type) {DType::name, gguf, file_type, DType::activations},
#include "kernels/formats/formats.inc"
#undef ASSAY_FORMAT
};

}  // namespace assay
