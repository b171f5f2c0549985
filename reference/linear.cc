#include "reference/linear.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "reference/block_dot.h"
#include "reference/block_packing.h"
#include "reference/bounds.h"
#include "reference/encode.h"
#include "reference/outputs.h"

namespace assay::reference {

const Contract kLinearContract{
    "finite x, an activations' scale within f16's range for q8_0; else refused; only bits where a product of scales or S (1 + "
    "g(h)) reaches FLT_MAX",
    Exactness::bounded,
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

// The activations as the op quantises them.
std::vector<std::uint8_t> quantised(Format x_format, const ProductArgs& args) {
  std::vector<std::uint8_t> activations;
  for (std::int64_t j = 0; j < args.m; ++j) {
    const auto* from = static_cast<const float*>(args.x) + j * args.x_stride;
    const std::vector<std::uint8_t> row = encode(x_format, Rounding::nearest_even, from, args.k);
    activations.insert(activations.end(), row.begin(), row.end());
  }
  return activations;
}
ProductArgs with_blocks(Format x_format, const ProductArgs& args, const std::vector<std::uint8_t>& activations) {
  ProductArgs blocks = args;
  blocks.x = activations.data();
  blocks.x_stride = args.k / dtype_numbers(x_format);
  return blocks;
}

// Calls visit(output, magnitudes) for each output of blocks by blocks, [m, n].
template <class Visit>
void for_each_output(DType weights, Format x_format, const ProductArgs& args, const Visit& visit) {
  const Format format = plain_dtype(weights);
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  std::vector<std::uint8_t> unpacked;
  if (is_packed(weights)) unpacked = unpack_x16(format, args.w, args.n, args.k);
  const auto* const rows = is_packed(weights) ? unpacked.data() : static_cast<const std::uint8_t*>(args.w);
  std::vector<std::vector<Block>> x;
  for (std::int64_t j = 0; j < args.m; ++j)
    x.push_back(
        read_blocks(x_format, static_cast<const std::uint8_t*>(args.x) + j * args.x_stride * block_bytes(x_format), blocks));
  for (std::int64_t i = 0; i < args.n; ++i) {
    const std::vector<Block> w = read_blocks(format, rows + i * blocks * block_bytes(format), blocks);
    for (std::int64_t j = 0; j < args.m; ++j) {
      Magnitudes sums;
      for (std::size_t b = 0; b < w.size(); ++b) sums.add(w[b], x[static_cast<std::size_t>(j)][b], info(format).offset);
      visit(j * args.n + i, sums);
    }
  }
}

// What a term of sums in lanes meets, and the roundings of all.
struct Chain {
  double roundings;  // in its scales (two), its integer, every fma of its lane from its own on, the joins
  double fmas;
};

// `own`: what the op grants where the order is canonical.
Chain chain_of(const Order& order, std::int64_t k, std::int64_t blocks, Chain own) {
  const double twice = 2 * static_cast<double>(blocks);
  const double all = 2 * static_cast<double>(k);  // each element by itself, and what its code is too large by, or its minimum
  if (order.kind == Order::Kind::canonical) return own;
  if (order.kind == Order::Kind::free) return {all + 3, all};
  const auto lanes = static_cast<double>(std::min(order.count, k));
  return {std::min(twice + lanes, all) + 3, lanes * twice};  // joined in any order, and one sum kept apart
}

void declared_lanes(DType weights, Format x_format, const ProductArgs& args, const Arithmetic& how, Chain chain, Expected& y) {
  const std::vector<BlockSum> terms = block_sums(weights, x_format, args);
  resize_bounded(y, args.m * args.n);
  for_each_output(weights, x_format, args, [&](std::int64_t at, const Magnitudes& sums) {
    const Sum sum{terms[static_cast<std::size_t>(at)].value, sums.s, chain.roundings, chain.fmas + sums.integers};
    set_bounded(y, at, sum.value, sum_bound(how, sum));
    if (sums.scales_overflow || sum_may_overflow(how, sum)) set_bits_only(y, at);
  });
}

}  // namespace

void linear(Format weights, Format x_format, const ProductArgs& args, Expected& y) {
  const std::vector<std::uint8_t> activations = quantised(x_format, args);
  const ProductArgs blocks_by_blocks = with_blocks(x_format, args, activations);
  const std::vector<BlockSum> terms = block_sums(weights, x_format, blocks_by_blocks);
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  const std::int64_t depth = linear_depth(blocks);
  resize_bounded(y, args.m * args.n);
  for_each_output(weights, x_format, blocks_by_blocks, [&](std::int64_t at, const Magnitudes& sums) {
    const double value = terms[static_cast<std::size_t>(at)].value;
    set_bounded(y, at, value, linear_bound(sums.s, sums.integers, blocks, depth));
    if (sums.scales_overflow || may_overflow(sums.s, depth)) set_bits_only(y, at, std::isfinite(value) ? 1 : kNotFinite);
  });
}

void declared_linear(Format weights, Format x_format, const ProductArgs& args, const Arithmetic& how, Expected& y) {
  const std::vector<std::uint8_t> activations = quantised(x_format, args);
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  const Chain own{static_cast<double>(linear_depth(blocks)), 32 * static_cast<double>(blocks)};
  declared_lanes(weights, x_format, with_blocks(x_format, args, activations), how, chain_of(how.order, args.k, blocks, own), y);
}

void declared_blocks(DType weights, Format x_format, const ProductArgs& args, const Arithmetic& how, Expected& y) {
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  if (how.order.kind != Order::Kind::canonical)
    return declared_lanes(weights, x_format, args, how, chain_of(how.order, args.k, blocks, {}), y);
  const FormatInfo& weight = info(plain_dtype(weights));
  const auto depth =
      static_cast<double>(block_dot_depth(blocks, weight.has_min, weight.half_scales && info(x_format).half_scales));
  const std::vector<BlockSum> terms = block_sums(weights, x_format, args);
  resize_bounded(y, args.m * args.n);
  for (std::size_t o = 0; o < terms.size(); ++o) {
    const BlockSum& term = terms[o];
    const Sum sum{term.value, term.magnitude, depth, 2 * static_cast<double>(blocks) + term.integers};
    const auto at = static_cast<std::int64_t>(o);
    set_bounded(y, at, sum.value, sum_bound(how, sum));
    if (term.scales_overflow || sum_may_overflow(how, sum)) set_bits_only(y, at);
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
