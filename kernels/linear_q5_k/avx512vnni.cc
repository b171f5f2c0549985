#include "kernels/linear/body.h"

#include "kernels/gemm_q5_k_q8_k/gemm_q5_k_q8_k.h"
#include "kernels/gemv_q5_k_q8_k/gemv_q5_k_q8_k.h"
#include "kernels/linear_q5_k/linear_q5_k.h"
#include "kernels/quantize_q8_k/quantize_q8_k.h"

namespace assay {

extern "C" {
AssayStatus quantize_q8_k_avx512(const QuantizeQ8KArgs* args) noexcept;
AssayStatus gemv_q5_k_q8_k_avx512vnni(const GemvQ5KQ8KArgs* args) noexcept;
AssayStatus gemm_q5_k_q8_k_avx512vnni(const GemmQ5KQ8KArgs* args) noexcept;

AssayStatus linear_q5_k_avx512vnni(const LinearQ5KArgs* args) noexcept {
  return linear<ASSAY_QK_K, BlockQ8_K, quantize_q8_k_avx512, gemv_q5_k_q8_k_avx512vnni, gemm_q5_k_q8_k_avx512vnni>(*args);
}
}

}  // namespace assay
