#include "kernels/unit.h"

#include ASSAY_HEADER(formats, ASSAY_PASTE(bytes_, ASSAY_ISA))

#include "kernels/codecs/codecs.h"
#include "kernels/codecs/encode.h"
#include "kernels/codecs/encode_affine.h"
#include "kernels/codecs/encode_centred.h"
#include "kernels/codecs/quantize.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

template <class Decoder>
inline AssayStatus decode(const CodecArgs& args) {
  constexpr int64_t kElements = Decoder::kElements;
  if (args.rows != 1 || args.k % kElements != 0) return ASSAY_BAD_SHAPE;
  const auto* src = static_cast<const typename Decoder::Block*>(args.src);
  auto* dst = static_cast<float*>(args.dst);
  for (int64_t i = 0; i < args.k / kElements; ++i) Decoder::decode(src[i], dst + i * kElements);
  return ASSAY_OK;
}

// Everything is looked at before the first write.
template <class Encoder>
inline AssayStatus quantize(const CodecArgs& args) {
  constexpr int64_t kElements = Encoder::kElements;
  if (args.k % kElements != 0) return ASSAY_BAD_SHAPE;
  if (args.k == 0) return ASSAY_OK;
  const auto* src = static_cast<const float*>(args.src);
  for (int64_t j = 0; j < args.rows; ++j) {
    if (!Encoder::fits(src + j * args.src_stride, args.k)) return ASSAY_NOT_FINITE;
  }
  for (int64_t j = 0; j < args.rows; ++j) {
    const float* x = src + j * args.src_stride;
    auto* y = static_cast<typename Encoder::Block*>(args.dst) + j * args.dst_stride;
    for (int64_t i = 0; i < args.k / kElements; ++i) Encoder::encode(x + i * kElements, y[i]);
  }
  return ASSAY_OK;
}

template <class Encoder>
inline AssayStatus encode(const CodecArgs& args) {
  return args.rows == 1 ? quantize<Encoder>(args) : ASSAY_BAD_SHAPE;
}

}  // namespace

// encode: encoder::q4_0; decode: decoder::q4_0; quantize: quantizer::q8_0.
#define ASSAY_OP(op, codec, format) ASSAY_KERNEL_OF(op, codec<codec##r::format>)
#include ASSAY_ROWS

}  // namespace assay
