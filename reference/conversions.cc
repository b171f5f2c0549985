#include "reference/conversions.h"

#include <algorithm>

#include "reference/convert.h"
#include "reference/decode.h"

namespace assay::reference {

const Contract kConvertF32F16Contract{"every f32", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kConvertF16F32Contract{"every f16", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kConvertF32Bf16Contract{"every f32", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kConvertBf16F32Contract{"every bf16", Exactness::exact, "bits equal", BiasUnit::none};

namespace {

template <class Target, class Source, class Convert>
void convert_all(const Source* src, std::int64_t n, Expected& dst, Convert convert) {
  std::vector<Target> converted(static_cast<std::size_t>(n));
  std::transform(src, src + n, converted.begin(), convert);
  dst = {};
  append_bytes(dst.bytes, converted.data(), converted.size());
}

}  // namespace

void convert_f32_f16(const ConvertF32F16Args& args, Expected& dst) {
  convert_all<std::uint16_t>(args.src, args.n, dst, [](float x) { return narrow<Half>(x); });
}

void convert_f16_f32(const ConvertF16F32Args& args, Expected& dst) {
  convert_all<std::uint32_t>(args.src, args.n, dst, widen_f16);
}

void convert_f32_bf16(const ConvertF32Bf16Args& args, Expected& dst) {
  convert_all<std::uint16_t>(args.src, args.n, dst, [](float x) { return narrow<Bfloat>(x); });
}

void convert_bf16_f32(const ConvertBf16F32Args& args, Expected& dst) {
  convert_all<std::uint32_t>(args.src, args.n, dst, widen_bf16);
}

}  // namespace assay::reference
