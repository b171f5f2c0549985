#include "kernels/linear/body.h"

#include "kernels/gemm_q8_0_q8_0/gemm_q8_0_q8_0.h"
#include "kernels/gemv_q8_0_q8_0/gemv_q8_0_q8_0.h"
#include "kernels/linear_q8_0/linear_q8_0.h"
#include "kernels/quantize_q8_0/quantize_q8_0.h"

namespace assay {

extern "C" {
AssayStatus quantize_q8_0_avx512(const QuantizeQ80Args* args) noexcept;
AssayStatus gemv_q8_0_q8_0_avx512vnni(const GemvQ80Q80Args* args) noexcept;
AssayStatus gemm_q8_0_q8_0_avx512vnni(const GemmQ80Q80Args* args) noexcept;

AssayStatus linear_q8_0_avx512vnni(const LinearQ80Args* args) noexcept {
  return linear<ASSAY_QK, BlockQ8_0, quantize_q8_0_avx512, gemv_q8_0_q8_0_avx512vnni, gemm_q8_0_q8_0_avx512vnni>(*args);
}
}

}  // namespace assay
