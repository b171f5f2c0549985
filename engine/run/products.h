// The ops that multiply, behind one signature: which of them a weight's layout and the number of rows ask for is settled at load.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/run/chosen.h"
#include "kernels/dispatch.h"

namespace assay {

// n rows of weights against m rows of activations; strides in elements of their type.
struct ProductCall {
  const void* w;
  const void* x;
  float* y;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t x_stride;
  std::int64_t y_stride;
};

using RunProduct = AssayStatus (*)(const Chosen& chosen, const ProductCall& call);

// By the op's name. A gemv takes m = 1 alone. Throws std::logic_error for an op that the engine does not use.
RunProduct product_runner(std::string_view op);

}  // namespace assay
