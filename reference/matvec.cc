#include "reference/matvec.h"

#include <Eigen/Core>
#include <algorithm>

#include "reference/bounds.h"
#include "reference/decode.h"
#include "reference/magnitudes.h"
#include "reference/outputs.h"

namespace assay::reference {

const Contract kMatvecContract{
    "every weight and activation; only bits where S (1 + g(h)) >= FLT_MAX, S over finite terms", Exactness::bounded,
    "g(h) S + 2 k eta, S = sum |w x|, h = 64 + ceil(k/64), or k + 1 below 64; 0 where S = 0", BiasUnit::output};

namespace {

constexpr std::int64_t kBlockColumns = 256;  // a decoded block of 32 rows is 64 KiB

using TileMatrix = Eigen::Matrix<double, kTileRows, Eigen::Dynamic>;

// y = x w^T over tile-major weights. Products of two floats are exact in fp64, so a sum in any order is within
// k 2^-53 S of the truth: at most 2^-23 of the bound's h u S.
template <class Weight, class Decode>
class Product {
 public:
  explicit Product(const ProductArgs& args) : w_(static_cast<const Weight*>(args.w)), n_(args.n), k_(args.k), x_(args.k, args.m) {
    const auto* x = static_cast<const float*>(args.x);
    for (std::int64_t j = 0; j < args.m; ++j)
      x_.col(j) = Eigen::Map<const Eigen::VectorXf>(x + j * args.x_stride, k_).cast<double>();
    x_magnitudes_ = finite_magnitudes(x_);
  }

  void fill(Expected& y) {
    resize_bounded(y, x_.cols() * n_);
    for (std::int64_t tile = 0; tile * kTileRows < n_; ++tile) {
      sum_tile(tile);
      const std::int64_t rows = std::min(kTileRows, n_ - tile * kTileRows);  // lanes past n count nowhere
      for (std::int64_t j = 0; j < x_.cols(); ++j)
        for (std::int64_t lane = 0; lane < rows; ++lane) set_output(tile, lane, j, y);
    }
  }

 private:
  // values_ = W x^T and sums_ = |W| |x|^T for the 32 rows of a tile. In [k, 32] a column of 32 weights is
  // contiguous, which is Eigen's column-major order.
  void sum_tile(std::int64_t tile) {
    values_.setZero(kTileRows, x_.cols());
    sums_.setZero(kTileRows, x_.cols());
    for (std::int64_t first = 0; first < k_; first += kBlockColumns) {
      const std::int64_t columns = std::min(kBlockColumns, k_ - first);
      decode_block(tile, first, columns);
      values_.noalias() += block_ * x_.middleRows(first, columns);
      block_ = finite_magnitudes(block_);
      sums_.noalias() += block_ * x_magnitudes_.middleRows(first, columns);
    }
  }

  void decode_block(std::int64_t tile, std::int64_t first, std::int64_t columns) {
    block_.resize(kTileRows, columns);
    const Weight* src = w_ + (tile * k_ + first) * kTileRows;
    std::transform(src, src + columns * kTileRows, block_.data(), decode_);
  }

  void set_output(std::int64_t tile, std::int64_t lane, std::int64_t j, Expected& y) const {
    const double s = sums_(lane, j);
    const std::int64_t index = j * n_ + tile * kTileRows + lane;
    set_bounded(y, index, values_(lane, j), matvec_bound(s, k_));
    if (may_overflow(s, matvec_depth(k_))) set_bits_only(y, index);
  }

  const Weight* w_;
  Decode decode_;
  std::int64_t n_;
  std::int64_t k_;
  Eigen::MatrixXd x_;  // [k, m], a column a row of activations
  Eigen::MatrixXd x_magnitudes_;
  TileMatrix block_;
  TileMatrix values_;
  TileMatrix sums_;
};

}  // namespace

void matvec(DType weights, const ProductArgs& args, Expected& y) {
  if (weights == DType::f32) return Product<float, DecodeF32>(args).fill(y);
  if (weights == DType::f16) return Product<std::uint16_t, Decode16<Half>>(args).fill(y);
  Product<std::uint16_t, Decode16<Bfloat>>(args).fill(y);
}

}  // namespace assay::reference
