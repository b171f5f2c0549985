#include "kernels/unit.h"

#include ASSAY_HEADER(simd, ASSAY_ISA)

#include "kernels/conversions/conversions.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

template <class From, class To>
struct Recode {
  template <class Vector>
  ASSAY_INLINE auto operator()(const Vector& v) const {
    return typename To::Narrow{}(typename From::Widen{}(v));
  }
};

template <class From, class To>
inline AssayStatus convert(const ConvertArgs& args) {
  stream(Recode<From, To>{}, static_cast<const typename From::Stored*>(args.src), static_cast<typename To::Stored*>(args.dst),
         args.n);
  return ASSAY_OK;
}

}  // namespace

#define ASSAY_OP(op, from, to) ASSAY_KERNEL_OF(op, convert<element::from, element::to>)
#include ASSAY_ROWS

}  // namespace assay
