#include "kernels/linear/body.h"

#include "kernels/gemm_q4_k_q8_k/gemm_q4_k_q8_k.h"
#include "kernels/gemv_q4_k_q8_k/gemv_q4_k_q8_k.h"
#include "kernels/linear_q4_k/linear_q4_k.h"
#include "kernels/quantize_q8_k/quantize_q8_k.h"

namespace assay {

extern "C" {
AssayStatus quantize_q8_k_avx2(const QuantizeQ8KArgs* args) noexcept;
AssayStatus gemv_q4_k_q8_k_avx2(const GemvQ4KQ8KArgs* args) noexcept;
AssayStatus gemm_q4_k_q8_k_avx2(const GemmQ4KQ8KArgs* args) noexcept;

AssayStatus linear_q4_k_avx2(const LinearQ4KArgs* args) noexcept {
  return linear<ASSAY_QK_K, BlockQ8_K, quantize_q8_k_avx2, gemv_q4_k_q8_k_avx2, gemm_q4_k_q8_k_avx2>(*args);
}
}

}  // namespace assay
