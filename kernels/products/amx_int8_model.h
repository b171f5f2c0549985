/* amx_int8's products over a model of its tiles; what is around them is AVX2's. */
#pragma once

#define ASSAY_QUANTIZER_ISA avx2

#include "kernels/products/avx2.h"

#include "kernels/products/tile_model.h"

namespace assay {
namespace {

struct TileRegisters {
  TileModel model;

  void configure(const TileConfig& config) { model.configure(config); }
  void release() { model.release(); }
  template <int T>
  void zero() {
    model.zero(T);
  }
  template <int T>
  void load(const void* rows, int64_t stride) {
    model.load(T, rows, stride);
  }
  template <int T>
  void store(void* rows, int64_t stride) {
    model.store(T, rows, stride);
  }
  template <int Sum, int A, int B>
  void dot_signed() {
    model.dot<int8_t, int8_t>(Sum, A, B);
  }
  template <int Sum, int A, int B>
  void dot_unsigned() {
    model.dot<int8_t, uint8_t>(Sum, A, B);
  }
};

}  // namespace
}  // namespace assay

#include "kernels/products/tiled_gemm.h"
