// Conversions between f32, f16 and bf16: the destination's bytes. NaN keeps sign and top payload bits, quietened.
#pragma once

#include "kernels/convert_bf16_f32/convert_bf16_f32.h"
#include "kernels/convert_f16_f32/convert_f16_f32.h"
#include "kernels/convert_f32_bf16/convert_f32_bf16.h"
#include "kernels/convert_f32_f16/convert_f32_f16.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kConvertF32F16Contract;
extern const Contract kConvertF16F32Contract;
extern const Contract kConvertF32Bf16Contract;
extern const Contract kConvertBf16F32Contract;

void convert_f32_f16(const ConvertF32F16Args& args, Expected& dst);
void convert_f16_f32(const ConvertF16F32Args& args, Expected& dst);
void convert_f32_bf16(const ConvertF32Bf16Args& args, Expected& dst);
void convert_bf16_f32(const ConvertBf16F32Args& args, Expected& dst);

}  // namespace assay::reference
