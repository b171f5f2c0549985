#include "reference/linear.h"

#include <cmath>
#include <cstdlib>
#include <vector>

#include "reference/block_dot.h"
#include "reference/bounds.h"
#include "reference/encode.h"
#include "reference/outputs.h"

namespace assay::reference {
namespace {

constexpr const char* kDomain =
    "finite x, an activations' scale within f16's range for q8_0; else refused; only bits where a product of scales or S (1 + "
    "g(h)) reaches FLT_MAX";

}  // namespace

const Contract kLinearContract{
    kDomain, Exactness::bounded,
    "g(h) S + 2 eta (32 N_b + sum(E1 + E2)), S = sum(|d_w d_x| E1 + |dmin_w d_x| E2), E1 = sum |sc| (c + c0) |x_code|, c the "
    "stored code, c0 what it is too large by, E2 = sum |m x_code|, h = 2 N_b + 8; 0 where S = 0",
    BiasUnit::output};

namespace {

// The magnitudes of one output's products.
struct Magnitudes {
  double s = 0;
  double integers = 0;
  bool scales_overflow = false;

  // A kernel may multiply codes as they are stored and take what they are too large by off apart.
  void add(const Block& w, const Block& x, std::int64_t offset) {
    std::int64_t e1 = 0;
    std::int64_t e2 = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(w.elements); ++i) {
      e1 += (std::abs(w.code[i] + offset) + offset) * std::abs(std::int64_t{w.scale[i]} * x.code[i]);
      e2 += std::abs(std::int64_t{w.min[i]} * x.code[i]);
    }
    add(w.d * x.d, e1);
    if (w.has_min) add(w.dmin * x.d, e2);
  }

 private:
  void add(double scales, std::int64_t sum) {
    const double term = std::abs(scales) * static_cast<double>(sum);
    if (std::isfinite(term)) s += term;
    integers += static_cast<double>(sum);
    if (std::abs(scales) >= kFloatMax) scales_overflow = true;
  }
};

std::vector<Block> read_blocks(Format format, const std::uint8_t* bytes, std::int64_t count) {
  std::vector<Block> all;
  for (std::int64_t b = 0; b < count; ++b) all.push_back(read_block(format, bytes + b * block_bytes(format)));
  return all;
}

}  // namespace

void linear(Format weights, Format x_format, const ProductArgs& args, Expected& y) {
  std::vector<std::uint8_t> activations;
  for (std::int64_t j = 0; j < args.m; ++j) {
    const auto* from = static_cast<const float*>(args.x) + j * args.x_stride;
    const std::vector<std::uint8_t> row = encode(x_format, Rounding::nearest_even, from, args.k);
    activations.insert(activations.end(), row.begin(), row.end());
  }
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  ProductArgs quantised = args;
  quantised.x = activations.data();
  quantised.x_stride = blocks;
  block_dot(weights, x_format, quantised, y);
  const std::vector<double> values = y.value;
  resize_bounded(y, args.m * args.n);
  const std::vector<Block> x = read_blocks(x_format, activations.data(), args.m * blocks);
  const std::int64_t depth = linear_depth(blocks);
  for (std::int64_t i = 0; i < args.n; ++i) {
    const auto* const row = static_cast<const std::uint8_t*>(args.w) + i * blocks * block_bytes(weights);
    const std::vector<Block> w = read_blocks(weights, row, blocks);
    for (std::int64_t j = 0; j < args.m; ++j) {
      Magnitudes sums;
      for (std::int64_t b = 0; b < blocks; ++b)
        sums.add(w[static_cast<std::size_t>(b)], x[static_cast<std::size_t>(j * blocks + b)], info(weights).offset);
      const std::int64_t at = j * args.n + i;
      set_bounded(y, at, values[static_cast<std::size_t>(at)], linear_bound(sums.s, sums.integers, blocks, depth));
      if (sums.scales_overflow || may_overflow(sums.s, depth)) set_bits_only(y, at);
    }
  }
}

AssayStatus linear_status(Format weights, Format x_format, const ProductArgs& args) {
  if (args.k % dtype_numbers(weights) != 0 || args.k > ASSAY_LINEAR_MOST_COLUMNS) return ASSAY_BAD_SHAPE;
  for (std::int64_t j = 0; j < args.m; ++j) {
    const AssayStatus status = encode_status(x_format, static_cast<const float*>(args.x) + j * args.x_stride, args.k);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

}  // namespace assay::reference
