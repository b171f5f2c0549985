#include "reference/linear.h"

#include <cmath>
#include <cstdlib>
#include <vector>

#include "kernels/linear/linear.h"
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

// What a stored code is too large by. A kernel may multiply codes as they are stored and take the rest off apart.
std::int64_t offset_of(Format format) {
  switch (format) {
    case Format::q4_0:
      return 8;
    case Format::q5_0:
      return 16;
    case Format::q6_k:
      return 32;
    default:
      return 0;
  }
}

// The magnitudes of one output's products.
struct Magnitudes {
  double s = 0;
  double integers = 0;
  bool scales_overflow = false;

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
  for (std::int64_t b = 0; b < count; ++b) all.push_back(read_block(format, bytes + b * info(format).bytes));
  return all;
}

}  // namespace

void linear(const Linear& call, Expected& y) {
  std::vector<std::uint8_t> activations;
  for (std::int64_t j = 0; j < call.m; ++j) {
    const std::vector<std::uint8_t> row = encode(call.x_format, Rounding::nearest_even, call.x + j * call.x_stride, call.k);
    activations.insert(activations.end(), row.begin(), row.end());
  }
  const FormatInfo& weight = info(call.w_format);
  const std::int64_t blocks = call.k / weight.elements;
  block_dot({call.w_format, call.x_format, call.w, activations.data(), call.m, call.n, call.k, blocks}, y);
  const std::vector<double> values = y.value;
  resize_bounded(y, call.m * call.n);
  const std::vector<Block> x = read_blocks(call.x_format, activations.data(), call.m * blocks);
  const std::int64_t depth = linear_depth(blocks);
  for (std::int64_t i = 0; i < call.n; ++i) {
    const auto* const row = static_cast<const std::uint8_t*>(call.w) + i * blocks * weight.bytes;
    const std::vector<Block> w = read_blocks(call.w_format, row, blocks);
    for (std::int64_t j = 0; j < call.m; ++j) {
      Magnitudes sums;
      for (std::int64_t b = 0; b < blocks; ++b)
        sums.add(w[static_cast<std::size_t>(b)], x[static_cast<std::size_t>(j * blocks + b)], offset_of(call.w_format));
      const std::int64_t at = j * call.n + i;
      set_bounded(y, at, values[static_cast<std::size_t>(at)], linear_bound(sums.s, sums.integers, blocks, depth));
      if (sums.scales_overflow || may_overflow(sums.s, depth)) set_bits_only(y, at);
    }
  }
}

AssayStatus linear_status(const Linear& call) {
  if (call.k < 0 || call.k % info(call.w_format).elements != 0 || call.k > ASSAY_LINEAR_MOST_COLUMNS) return ASSAY_BAD_SHAPE;
  for (std::int64_t j = 0; j < call.m; ++j) {
    const AssayStatus status = encode_status(call.x_format, call.x + j * call.x_stride, call.k);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

}  // namespace assay::reference
