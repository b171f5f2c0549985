// Matrix times vector and matrix over tile-major f16, f32 and bf16 weights.
#pragma once

#include "kernels/gemm_bf16/gemm_bf16.h"
#include "kernels/gemm_f16/gemm_f16.h"
#include "kernels/gemm_f32/gemm_f32.h"
#include "kernels/matvec_bf16/matvec_bf16.h"
#include "kernels/matvec_f16/matvec_f16.h"
#include "kernels/matvec_f32/matvec_f32.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kMatvecF16Contract;
extern const Contract kMatvecF32Contract;
extern const Contract kMatvecBf16Contract;
extern const Contract kGemmF16Contract;
extern const Contract kGemmF32Contract;
extern const Contract kGemmBf16Contract;

void matvec_f16(const MatvecF16Args& args, Expected& y);
void matvec_f32(const MatvecF32Args& args, Expected& y);
void matvec_bf16(const MatvecBf16Args& args, Expected& y);
void gemm_f16(const GemmF16Args& args, Expected& y);
void gemm_f32(const GemmF32Args& args, Expected& y);
void gemm_bf16(const GemmBf16Args& args, Expected& y);

}  // namespace assay::reference
