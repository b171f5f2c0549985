#include "reference/block_matvec.h"

#include <array>

#include "reference/bounds.h"
#include "reference/magnitudes.h"
#include "reference/outputs.h"

namespace assay::reference {

const Contract kBlockMatvecContract{
    "every weight and activation; only bits where S (1 + g(h)) >= FLT_MAX, S over finite terms", Exactness::bounded,
    "g(h) S + 2 k eta, S = sum |w x| over the decoded weights, h = 64 + ceil(k/64), or k + 1 below 64; 0 where S = 0",
    BiasUnit::output};

void block_matvec(Format format, const ProductArgs& args, Expected& y) {
  const auto [m, n, k] = std::array{args.m, args.n, args.k};
  const auto* x = static_cast<const float*>(args.x);
  Eigen::MatrixXd columns(k, m);
  for (std::int64_t j = 0; j < m; ++j)
    columns.col(j) = Eigen::Map<const Eigen::VectorXf>(x + j * args.x_stride, k).cast<double>();
  const Eigen::MatrixXd magnitudes = finite_magnitudes(columns);
  const std::int64_t row_bytes = k / dtype_numbers(format) * block_bytes(format);
  resize_bounded(y, m * n);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::vector<float> row = decode(format, static_cast<const std::uint8_t*>(args.w) + i * row_bytes, k);
    const Eigen::RowVectorXd weights = Eigen::Map<const Eigen::RowVectorXf>(row.data(), k).cast<double>();
    const Eigen::RowVectorXd values = weights * columns;
    const Eigen::RowVectorXd sums = finite_magnitudes(weights) * magnitudes;
    for (std::int64_t j = 0; j < m; ++j) {
      set_bounded(y, j * n + i, 0 + values(j), matvec_bound(sums(j), k));
      if (may_overflow(sums(j), matvec_depth(k))) set_bits_only(y, j * n + i);
    }
  }
}

}  // namespace assay::reference
