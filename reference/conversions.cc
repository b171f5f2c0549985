#include "reference/conversions.h"

#include <algorithm>

#include "reference/convert.h"
#include "reference/decode.h"

namespace assay::reference {
namespace {

template <class Source, class Convert>
void convert_all(const ConvertArgs& args, Expected& dst, Convert convert) {
  const auto* src = static_cast<const Source*>(args.src);
  std::vector<decltype(convert(Source{}))> converted(static_cast<std::size_t>(args.n));
  std::transform(src, src + args.n, converted.begin(), convert);
  dst = {};
  append_bytes(dst.bytes, converted.data(), converted.size());
}

}  // namespace

void convert(DType from, DType to, const ConvertArgs& args, Expected& dst) {
  if (from == DType::f16) return convert_all<std::uint16_t>(args, dst, widen_f16);
  if (from == DType::bf16) return convert_all<std::uint16_t>(args, dst, widen_bf16);
  convert_all<float>(args, dst, to == DType::f16 ? narrow<Half> : narrow<Bfloat>);
}

}  // namespace assay::reference
