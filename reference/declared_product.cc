#include "reference/declared_product.h"

#include <Eigen/Core>
#include <vector>

#include "reference/blocks.h"
#include "reference/decode.h"
#include "reference/magnitudes.h"
#include "reference/outputs.h"

namespace assay::reference {
namespace {

constexpr double kMostCode = 127;

template <class Weight, class Decode>
void read_tile_row(const void* weights, std::int64_t row, std::span<double> out) {
  const Decode decode;
  const auto k = std::ssize(out);
  const Weight* from = static_cast<const Weight*>(weights) + row / kTileRows * k * kTileRows + row % kTileRows;
  for (std::int64_t c = 0; c < k; ++c) out[static_cast<std::size_t>(c)] = decode(from[c * kTileRows]);
}

void read_weights(DType type, const void* weights, std::int64_t row, std::span<double> out) {
  if (type == DType::f32) return read_tile_row<float, DecodeF32>(weights, row, out);
  if (type == DType::f16) return read_tile_row<std::uint16_t, Decode16<Half>>(weights, row, out);
  if (type == DType::bf16) return read_tile_row<std::uint16_t, Decode16<Bfloat>>(weights, row, out);
  const std::int64_t row_bytes = std::ssize(out) / dtype_numbers(type) * block_bytes(type);
  const std::vector<float> values = decode(type, static_cast<const std::uint8_t*>(weights) + row * row_bytes, std::ssize(out));
  std::ranges::copy(values, out.begin());
}

// The sum's kind: what of it does not depend on its terms.
Sum sum_of(const Arithmetic& how, std::int64_t k) {
  const auto terms = static_cast<double>(k);
  // The integer's conversion, the product of scales, and that of both; the second may underflow before it meets the integer.
  if (how.integer_sums) return {0, 0, 3, 1 + terms * kMostCode * kMostCode};
  return {0, 0, static_cast<double>(how.order.additions(k, matvec_depth(k) - 1) + 1), how.flush ? 2 * terms : terms};
}

}  // namespace

void declared_product(DType weights, const ProductArgs& args, const Arithmetic& how, Expected& y) {
  const auto count = static_cast<std::size_t>(args.k);
  Eigen::MatrixXd x(args.k, args.m);
  std::vector<bool> held(static_cast<std::size_t>(args.m), true);
  for (std::int64_t j = 0; j < args.m; ++j) {
    const auto* const from = static_cast<const float*>(args.x) + j * args.x_stride;
    std::copy(from, from + args.k, x.col(j).data());
    if (how.x != nullptr) held[static_cast<std::size_t>(j)] = how.x->round({x.col(j).data(), count});
  }
  // Of what flushing reads as zero, and of everything.
  const auto denormals = [least = how.least_read()](double a) { return a < least ? a : 0; };
  const Eigen::MatrixXd magnitudes = finite_magnitudes(x);
  const Eigen::MatrixXd small = magnitudes.unaryExpr(denormals);
  const bool beyond_int32 = how.integer_sums && static_cast<double>(args.k) * kMostCode * kMostCode >= 0x1p31;
  std::vector<double> row(count);
  resize_bounded(y, args.m * args.n);
  for (std::int64_t i = 0; i < args.n; ++i) {
    read_weights(weights, args.w, i, row);
    const bool row_held = (how.w == nullptr || how.w->round(row)) && !beyond_int32;
    const Eigen::Map<const Eigen::RowVectorXd> w(row.data(), args.k);
    const Eigen::RowVectorXd w_magnitudes = finite_magnitudes(Eigen::RowVectorXd(w));
    const Eigen::RowVectorXd values = w * x;
    const Eigen::RowVectorXd sums = w_magnitudes * magnitudes;
    Eigen::RowVectorXd lost = Eigen::RowVectorXd::Zero(args.m);
    if (how.flush) lost = w_magnitudes * small + Eigen::RowVectorXd(w_magnitudes.unaryExpr(denormals)) * magnitudes;
    for (std::int64_t j = 0; j < args.m; ++j) {
      Sum sum = sum_of(how, args.k);
      sum.value = 0 + values(j);
      sum.magnitude = sums(j);
      sum.lost = lost(j);
      set_bounded(y, j * args.n + i, sum.value, sum_bound(how, sum));
      if (!row_held || !held[static_cast<std::size_t>(j)] || sum_may_overflow(how, sum)) set_bits_only(y, j * args.n + i);
    }
  }
}

}  // namespace assay::reference
