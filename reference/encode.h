// The encoders and quantisers that are closed formulas: bytes equal. Each fp32 operation is one of the definition's.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/codecs/codecs.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

inline constexpr Contract kEncodeContract{"finite; scale and minimum within f16's range; else refused", Exactness::exact,
                                          "bytes equal", BiasUnit::none};

// Which formula makes q8_0 of floats; q8_k has one alone.
enum class Rounding { away, nearest_even };  // of weight files; of activations

// Blocks of n elements of x, a multiple of the block: q4_0, q4_1, q5_0, q5_1, q8_0, q8_k.
std::vector<std::uint8_t> encode(Format format, Rounding rounding, const float* x, std::int64_t n);

// What a kernel must return for them: ASSAY_NOT_FINITE for NaN, infinity, or a scale or minimum beyond f16's range.
// The scales of q4_k, q5_k and q6_k are the encoder's choice; those of one without a search stand for them.
AssayStatus encode_status(Format format, const float* x, std::int64_t n);

void encode_blocks(Format format, const CodecArgs& args, Expected& dst);
void quantize_rows(Format format, const CodecArgs& args, Expected& dst);

}  // namespace assay::reference
