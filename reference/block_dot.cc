#include "reference/block_dot.h"

#include <cmath>

#include "reference/block_packing.h"
#include "reference/bounds.h"
#include "reference/outputs.h"

namespace assay::reference {
namespace {

constexpr const char* kDomain =
    "activation codes in -127..127; only bits where a product of scales (with I = 0 too, and infinite ones) or S_I (1 + g(h)) "
    "reaches FLT_MAX";

}  // namespace

const Contract kBlockDotContracts[2][2] = {
    {{kDomain, Exactness::bounded, "g(h) S_I + 2 eta (2 N_b + sum |I1|), S_I = sum |d_w d_x I1|, h = N_b + 2; 0 where S_I = 0",
      BiasUnit::output},
     {kDomain, Exactness::bounded, "g(h) S_I + 2 eta (2 N_b + sum |I1|), S_I = sum |d_w d_x I1|, h = N_b; 0 where S_I = 0",
      BiasUnit::output}},
    {{kDomain, Exactness::bounded,
      "g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum(|d_w d_x I1| + |dmin_w d_x I2|), h = 2 N_b + 2; 0 where S_I = 0",
      BiasUnit::output},
     {kDomain, Exactness::bounded,
      "g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum(|d_w d_x I1| + |dmin_w d_x I2|), h = 2 N_b; 0 where S_I = 0",
      BiasUnit::output}}};

namespace {

struct Integers {
  std::int64_t i1 = 0;
  std::int64_t i2 = 0;
};

Integers integers_of(const Block& w, const Block& x) {
  Integers sums;
  for (std::size_t i = 0; i < static_cast<std::size_t>(w.elements); ++i) {
    sums.i1 += std::int64_t{w.scale[i]} * w.code[i] * x.code[i];
    sums.i2 += std::int64_t{w.min[i]} * x.code[i];
  }
  return sums;
}

// One output while its blocks come in. Sums of magnitudes are over finite terms.
struct Output {
  double value = 0;
  double magnitude = 0;
  double integers = 0;
  bool scales_overflow = false;

  // Scales are exact in fp64 as a product (11 + 24 bits), and the term is within 2^-53 of itself.
  void add(double scales, std::int64_t integer) {
    const double term = scales * static_cast<double>(integer);
    value += term;
    if (std::isfinite(term)) magnitude += std::abs(term);
    integers += std::abs(static_cast<double>(integer));
    if (std::abs(scales) >= kFloatMax) scales_overflow = true;
  }
};

std::vector<Block> read_row(Format format, const void* base, std::int64_t first, std::int64_t blocks) {
  std::vector<Block> all;
  for (std::int64_t b = first; b < first + blocks; ++b)
    all.push_back(read_block(format, static_cast<const std::uint8_t*>(base) + b * block_bytes(format)));
  return all;
}

// Calls visit(j, i, b, w block, x block) for every pair of blocks that meets, b ascending for each output.
template <class Visit>
void for_each_pair(DType weights, Format x_format, const ProductArgs& args, Visit visit) {
  const Format w_format = plain_dtype(weights);
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  std::vector<std::uint8_t> unpacked;
  if (is_packed(weights)) unpacked = unpack_x16(w_format, args.w, args.n, args.k);
  std::vector<std::vector<Block>> x;
  for (std::int64_t j = 0; j < args.m; ++j) x.push_back(read_row(x_format, args.x, j * args.x_stride, blocks));
  for (std::int64_t i = 0; i < args.n; ++i) {
    const std::vector<Block> w = read_row(w_format, is_packed(weights) ? unpacked.data() : args.w, i * blocks, blocks);
    for (std::int64_t j = 0; j < args.m; ++j)
      for (std::size_t b = 0; b < w.size(); ++b) visit(j, i, b, w[b], x[static_cast<std::size_t>(j)][b]);
  }
}

}  // namespace

void block_dot(DType weights, Format x_format, const ProductArgs& args, Expected& y) {
  const FormatInfo& weight = info(plain_dtype(weights));
  std::vector<Output> outputs(static_cast<std::size_t>(args.m * args.n));
  for_each_pair(weights, x_format, args, [&](std::int64_t j, std::int64_t i, std::size_t, const Block& w, const Block& x) {
    Output& output = outputs[static_cast<std::size_t>(j * args.n + i)];
    const Integers integers = integers_of(w, x);
    output.add(w.d * x.d, integers.i1);
    if (w.has_min) output.add(-(w.dmin * x.d), integers.i2);
  });
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  const std::int64_t depth = block_dot_depth(blocks, weight.has_min, weight.half_scales && info(x_format).half_scales);
  resize_bounded(y, args.m * args.n);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto index = static_cast<std::int64_t>(o);
    set_bounded(y, index, outputs[o].value, block_dot_bound(outputs[o].magnitude, outputs[o].integers, blocks, depth));
    if (outputs[o].scales_overflow || may_overflow(outputs[o].magnitude, depth)) set_bits_only(y, index);
  }
}

IntegerParts integer_parts(DType weights, Format x_format, const ProductArgs& args) {
  const auto blocks = static_cast<std::size_t>(args.k / dtype_numbers(weights));
  const std::size_t count = static_cast<std::size_t>(args.m * args.n) * blocks;
  const bool has_min = info(plain_dtype(weights)).has_min;
  IntegerParts parts{std::vector<std::int64_t>(count), std::vector<std::int64_t>(has_min ? count : 0)};
  for_each_pair(weights, x_format, args, [&](std::int64_t j, std::int64_t i, std::size_t b, const Block& w, const Block& x) {
    const std::size_t at = static_cast<std::size_t>(j * args.n + i) * blocks + b;
    const Integers integers = integers_of(w, x);
    parts.i1[at] = integers.i1;
    if (w.has_min) parts.i2[at] = integers.i2;
  });
  return parts;
}

}  // namespace assay::reference
