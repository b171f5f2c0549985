#include "reference/block_dot.h"

#include <cmath>

#include "reference/block_packing.h"
#include "reference/bounds.h"
#include "reference/outputs.h"

namespace assay::reference {
namespace {

constexpr const char* kBlockDotDomain =
    "activation codes in -127..127; only bits where a product of scales (with I = 0 too, and infinite ones) or S_I (1 + g(h)) "
    "reaches FLT_MAX";

}  // namespace

const Contract kBlockDotContracts[2][2] = {
    {{kBlockDotDomain, Exactness::bounded,
      "g(h) S_I + 2 eta (2 N_b + sum |I1|), S_I = sum |d_w d_x I1|, h = N_b + 2; 0 where S_I = 0", BiasUnit::output},
     {kBlockDotDomain, Exactness::bounded,
      "g(h) S_I + 2 eta (2 N_b + sum |I1|), S_I = sum |d_w d_x I1|, h = N_b; 0 where S_I = 0", BiasUnit::output}},
    {{kBlockDotDomain, Exactness::bounded,
      "g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum(|d_w d_x I1| + |dmin_w d_x I2|), h = 2 N_b + 2; 0 where S_I = 0",
      BiasUnit::output},
     {kBlockDotDomain, Exactness::bounded,
      "g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum(|d_w d_x I1| + |dmin_w d_x I2|), h = 2 N_b; 0 where S_I = 0",
      BiasUnit::output}}};

namespace {

// Blocks side by side, as their products need them: a term is d w[i], its integer w[i] = scale code at most 2^12 in size.
struct Blocks {
  Blocks(Format format, const std::uint8_t* bytes, std::int64_t count)
      : elements(static_cast<std::size_t>(dtype_numbers(format))) {
    for (std::int64_t b = 0; b < count; ++b, bytes += block_bytes(format)) {
      const Block block = read_block(format, bytes);
      d.push_back(block.d);
      dmin.push_back(block.dmin);
      for (std::size_t i = 0; i < elements; ++i) {
        w.push_back(static_cast<std::int16_t>(block.scale[i] * block.code[i]));
        if (block.has_min) min.push_back(static_cast<std::int16_t>(block.min[i]));
      }
    }
  }

  std::size_t elements;
  std::vector<double> d, dmin;
  std::vector<std::int16_t> w, min;
};

// Exact: at most 256 products of at most 2^12 2^7.
template <std::size_t kElements>
std::int32_t dot(const std::int16_t* a, const std::int16_t* b) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < kElements; ++i) sum += a[i] * b[i];
  return sum;
}

// Scales are exact in fp64 as a product (11 + 24 bits), and the term is within 2^-53 of itself.
void add(double scales, std::int64_t integer, BlockSum& sum) {
  const double term = scales * static_cast<double>(integer);
  sum.value += term;
  if (std::isfinite(term)) sum.magnitude += std::abs(term);
  sum.integers += std::abs(static_cast<double>(integer));
  if (std::abs(scales) >= kFloatMax) sum.scales_overflow = true;
}

// Calls visit(j, i, b, w, x, i1, i2) for every pair of blocks b that meets in output (j, i), b ascending for each output. I2 is 0
// without a minimum.
template <std::size_t kElements, class Visit>
void for_each_pair(const Blocks& w, const std::vector<Blocks>& x, std::int64_t i, const Visit& visit) {
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (std::size_t b = 0; b < w.d.size(); ++b) {
      const std::int16_t* const codes = x[j].w.data() + b * kElements;
      visit(static_cast<std::int64_t>(j), i, b, w, x[j], dot<kElements>(w.w.data() + b * kElements, codes),
            w.min.empty() ? 0 : dot<kElements>(w.min.data() + b * kElements, codes));
    }
  }
}

template <class Visit>
void for_each_pair(DType weights, Format x_format, const ProductArgs& args, const Visit& visit) {
  const Format w_format = plain_dtype(weights);
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  std::vector<std::uint8_t> unpacked;
  if (is_packed(weights)) unpacked = unpack_x16(w_format, args.w, args.n, args.k);
  const auto* const rows = is_packed(weights) ? unpacked.data() : static_cast<const std::uint8_t*>(args.w);
  std::vector<Blocks> x;
  for (std::int64_t j = 0; j < args.m; ++j)
    x.emplace_back(x_format, static_cast<const std::uint8_t*>(args.x) + j * args.x_stride * block_bytes(x_format), blocks);
  for (std::int64_t i = 0; i < args.n; ++i) {
    const Blocks w(w_format, rows + i * blocks * block_bytes(w_format), blocks);
    (w.elements == 32 ? for_each_pair<32, Visit> : for_each_pair<256, Visit>)(w, x, i, visit);
  }
}

}  // namespace

std::vector<BlockSum> block_sums(DType weights, Format x_format, const ProductArgs& args) {
  const bool has_min = info(plain_dtype(weights)).has_min;
  std::vector<BlockSum> sums(static_cast<std::size_t>(args.m * args.n));
  for_each_pair(
      weights, x_format, args,
      [&](std::int64_t j, std::int64_t i, std::size_t b, const Blocks& w, const Blocks& x, std::int64_t i1, std::int64_t i2) {
        BlockSum& sum = sums[static_cast<std::size_t>(j * args.n + i)];
        add(w.d[b] * x.d[b], i1, sum);
        if (has_min) add(-(w.dmin[b] * x.d[b]), i2, sum);
      });
  return sums;
}

void block_dot(DType weights, Format x_format, const ProductArgs& args, Expected& y) {
  const FormatInfo& weight = info(plain_dtype(weights));
  const std::vector<BlockSum> outputs = block_sums(weights, x_format, args);
  const std::int64_t blocks = args.k / dtype_numbers(weights);
  const std::int64_t depth = block_dot_depth(blocks, weight.has_min, weight.half_scales && info(x_format).half_scales);
  resize_bounded(y, args.m * args.n);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto index = static_cast<std::int64_t>(o);
    set_bounded(y, index, outputs[o].value, block_dot_bound(outputs[o].magnitude, outputs[o].integers, blocks, depth));
    // What an infinite scale makes of a sum depends on how that is cut.
    if (outputs[o].scales_overflow || may_overflow(outputs[o].magnitude, depth))
      set_bits_only(y, index, std::isfinite(outputs[o].value) ? 1 : kNotFinite);
  }
}

IntegerParts integer_parts(DType weights, Format x_format, const ProductArgs& args) {
  const auto blocks = static_cast<std::size_t>(args.k / dtype_numbers(weights));
  const std::size_t count = static_cast<std::size_t>(args.m * args.n) * blocks;
  const bool has_min = info(plain_dtype(weights)).has_min;
  IntegerParts parts{std::vector<std::int64_t>(count), std::vector<std::int64_t>(has_min ? count : 0)};
  for_each_pair(
      weights, x_format, args,
      [&](std::int64_t j, std::int64_t i, std::size_t b, const Blocks&, const Blocks&, std::int64_t i1, std::int64_t i2) {
        const std::size_t at = static_cast<std::size_t>(j * args.n + i) * blocks + b;
        parts.i1[at] = i1;
        if (has_min) parts.i2[at] = i2;
      });
  return parts;
}

}  // namespace assay::reference
