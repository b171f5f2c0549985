#include "kernels/linear/body.h"

#include "kernels/gemm_q5_0_q8_0/gemm_q5_0_q8_0.h"
#include "kernels/gemv_q5_0_q8_0/gemv_q5_0_q8_0.h"
#include "kernels/linear_q5_0/linear_q5_0.h"
#include "kernels/quantize_q8_0/quantize_q8_0.h"

namespace assay {

extern "C" {
AssayStatus quantize_q8_0_avx512(const QuantizeQ80Args* args) noexcept;
AssayStatus gemv_q5_0_q8_0_avx512(const GemvQ50Q80Args* args) noexcept;
AssayStatus gemm_q5_0_q8_0_avx512(const GemmQ50Q80Args* args) noexcept;

AssayStatus linear_q5_0_avx512(const LinearQ50Args* args) noexcept {
  return linear<ASSAY_QK, BlockQ8_0, quantize_q8_0_avx512, gemv_q5_0_q8_0_avx512, gemm_q5_0_q8_0_avx512>(*args);
}
}

}  // namespace assay
