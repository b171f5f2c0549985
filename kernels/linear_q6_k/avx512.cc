#include "kernels/linear/body.h"

#include "kernels/gemm_q6_k_q8_k/gemm_q6_k_q8_k.h"
#include "kernels/gemv_q6_k_q8_k/gemv_q6_k_q8_k.h"
#include "kernels/linear_q6_k/linear_q6_k.h"
#include "kernels/quantize_q8_k/quantize_q8_k.h"

namespace assay {

extern "C" {
AssayStatus quantize_q8_k_avx512(const QuantizeQ8KArgs* args) noexcept;
AssayStatus gemv_q6_k_q8_k_avx512(const GemvQ6KQ8KArgs* args) noexcept;
AssayStatus gemm_q6_k_q8_k_avx512(const GemmQ6KQ8KArgs* args) noexcept;

AssayStatus linear_q6_k_avx512(const LinearQ6KArgs* args) noexcept {
  return linear<ASSAY_QK_K, BlockQ8_K, quantize_q8_k_avx512, gemv_q6_k_q8_k_avx512, gemm_q6_k_q8_k_avx512>(*args);
}
}

}  // namespace assay
