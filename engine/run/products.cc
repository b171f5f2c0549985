#include "engine/run/products.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace assay {
namespace {

template <class Op>
AssayStatus run(const Chosen& chosen, const ProductCall& call) {
  typename Op::Args args{};
  args.w = static_cast<decltype(args.w)>(call.w);
  args.x = static_cast<decltype(args.x)>(call.x);
  args.y = call.y;
  args.n = call.n;
  args.k = call.k;
  if constexpr (requires { args.m; }) {
    args.m = call.m;
    args.x_stride = call.x_stride;
    args.y_stride = call.y_stride;
  }
  return invoke<Op>(chosen, args);
}

struct ProductOf {
  std::string_view op;
  RunProduct run;
};

template <class... Ops>
constexpr std::array<ProductOf, sizeof...(Ops)> products() {
  return {{{Ops::name, run<Ops>}...}};
}

constexpr auto kProducts =
    products<MatvecF32, MatvecF16, MatvecBf16, GemmF32, GemmF16, GemmBf16, GemvQ40Q80, GemvQ50Q80, GemvQ80X16Q80, GemvQ4KX16Q8K,
             GemvQ5KQ8K, GemvQ6KX16Q8K, GemmQ40Q80, GemmQ50Q80, GemmQ80X16Q80, GemmQ4KX16Q8K, GemmQ5KQ8K, GemmQ6KX16Q8K,
             LinearQ40, LinearQ50, LinearQ80, LinearQ4K, LinearQ5K, LinearQ6K>();

}  // namespace

RunProduct product_runner(std::string_view op) {
  const auto* const found = std::ranges::find(kProducts, op, &ProductOf::op);
  if (found == kProducts.end()) throw std::logic_error("the engine has no call of " + std::string(op));
  return found->run;
}

}  // namespace assay
