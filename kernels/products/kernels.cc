// Every product: a row of ops.inc becomes a function, gemv or gemm or linear over the types that its columns name.
#include "kernels/unit.h"
#include ASSAY_HEADER(products, ASSAY_ISA)

#include "kernels/products/linear.h"

namespace assay {
namespace {

enum class Product { gemv, gemm, linear };

template <Product kProduct, class W, class X>
AssayStatus multiply(const ProductArgs& args) {
  if constexpr (kProduct == Product::linear) {
    return linear<X>(typed<W, float>(args));
  } else if constexpr (kProduct == Product::gemm) {
    Typed<W, X> typed_args = typed<W, X>(args);
    if (args.m == 0 || args.n == 0) typed_args.m = typed_args.n = 0;  // however many there are of the other
    return gemm(typed_args);
  } else {
    return args.m == 1 ? gemv(typed<W, X>(args)) : ASSAY_BAD_SHAPE;
  }
}

}  // namespace

#define ASSAY_OP(op, product, weights, layout, activations) \
  ASSAY_KERNEL_OF(op, multiply<Product::product, layout::weights, plain::activations>)
#include ASSAY_ROWS

}  // namespace assay
