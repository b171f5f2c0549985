// The K encoders search for their scales, so their bytes are free; what they decode to is held to a weighted squared error.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/codecs/codecs.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

inline constexpr Contract kEncodeKContract{"finite; scales within f16's range; else refused", Exactness::encoded,
                                           "sum w_i (x_i - decoded_i)^2 <= 1.001 times that of the golden's blocks, without a "
                                           "golden that of an encoder without a search",
                                           BiasUnit::none};

// The largest ratio to the error of the blocks that an encoder is held to.
inline constexpr double kMostEncodedError = 1.001;

// The weight of each element's squared error: rms(sub-block of 32) + |x_i| for q4_k and q5_k, x_i^2 for q6_k.
std::vector<double> encoding_weights(Format format, const float* x, std::int64_t n);

EncodedError encoded_error(const Encoding& encoding, const std::uint8_t* blocks);

// What blocks of x are to be held to.
Encoding encoding_of(Format format, const float* x, std::int64_t n);

// Whether the scales of an encoder without a search are within f16's range.
bool plain_scales_fit(Format format, const float* x, std::int64_t n);

void encode_k_blocks(Format format, const CodecArgs& args, Expected& dst);

}  // namespace assay::reference
