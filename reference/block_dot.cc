#include "reference/block_dot.h"

#include <cmath>

#include "reference/bounds.h"
#include "reference/outputs.h"

namespace assay::reference {
namespace {

constexpr const char* kDomain =
    "activation codes in -127..127; only bits where a product of scales (with I = 0 too, and infinite ones) or S_I (1 + g(h)) "
    "reaches FLT_MAX";

}  // namespace

const Contract kBlockDotMinContract{kDomain, Exactness::bounded,
                                    "g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum(|d_w d_x I1| + |dmin_w d_x I2|), "
                                    "h = 2 N_b + 2; 0 where S_I = 0",
                                    BiasUnit::output};
const Contract kBlockDotContract{kDomain, Exactness::bounded,
                                 "g(h) S_I + 2 eta (2 N_b + sum |I1|), S_I = sum |d_w d_x I1|, h = N_b + 2; 0 where S_I = 0",
                                 BiasUnit::output};
const Contract kBlockDotHalfContract{kDomain, Exactness::bounded,
                                     "g(h) S_I + 2 eta (2 N_b + sum |I1|), S_I = sum |d_w d_x I1|, h = N_b; 0 where S_I = 0",
                                     BiasUnit::output};

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

std::vector<Block> read_rows(Format format, const void* base, std::int64_t rows, std::int64_t blocks, std::int64_t stride) {
  std::vector<Block> all;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto* bytes = static_cast<const std::uint8_t*>(base) + row * stride * info(format).bytes;
    for (std::int64_t b = 0; b < blocks; ++b, bytes += info(format).bytes) all.push_back(read_block(format, bytes));
  }
  return all;
}

// Calls visit(j, i, b, w block, x block) for every pair of blocks that meets, b ascending for each output.
template <class Visit>
void for_each_pair(const BlockDot& call, Visit visit) {
  const std::int64_t blocks = call.k / info(call.w_format).elements;
  const std::vector<Block> x = read_rows(call.x_format, call.x, call.m, blocks, call.x_stride);
  for (std::int64_t i = 0; i < call.n; ++i) {
    const auto* row = static_cast<const std::uint8_t*>(call.w) + i * blocks * info(call.w_format).bytes;
    const std::vector<Block> w = read_rows(call.w_format, row, 1, blocks, blocks);
    for (std::int64_t j = 0; j < call.m; ++j)
      for (std::int64_t b = 0; b < blocks; ++b)
        visit(j, i, b, w[static_cast<std::size_t>(b)], x[static_cast<std::size_t>(j * blocks + b)]);
  }
}

}  // namespace

void block_dot(const BlockDot& call, Expected& y) {
  const FormatInfo& weight = info(call.w_format);
  std::vector<Output> outputs(static_cast<std::size_t>(call.m * call.n));
  for_each_pair(call, [&](std::int64_t j, std::int64_t i, std::int64_t, const Block& w, const Block& x) {
    Output& output = outputs[static_cast<std::size_t>(j * call.n + i)];
    const Integers integers = integers_of(w, x);
    output.add(w.d * x.d, integers.i1);
    if (w.has_min) output.add(-(w.dmin * x.d), integers.i2);
  });
  const std::int64_t blocks = call.k / weight.elements;
  const std::int64_t depth = block_dot_depth(blocks, weight.has_min, weight.half_scales && info(call.x_format).half_scales);
  resize_bounded(y, call.m * call.n);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto index = static_cast<std::int64_t>(o);
    set_bounded(y, index, outputs[o].value, block_dot_bound(outputs[o].magnitude, outputs[o].integers, blocks, depth));
    if (outputs[o].scales_overflow || may_overflow(outputs[o].magnitude, depth)) set_bits_only(y, index);
  }
}

IntegerParts integer_parts(const BlockDot& call) {
  const std::int64_t blocks = call.k / info(call.w_format).elements;
  const auto count = static_cast<std::size_t>(call.m * call.n * blocks);
  IntegerParts parts{std::vector<std::int64_t>(count), std::vector<std::int64_t>(info(call.w_format).has_min ? count : 0)};
  for_each_pair(call, [&](std::int64_t j, std::int64_t i, std::int64_t b, const Block& w, const Block& x) {
    const auto at = static_cast<std::size_t>((j * call.n + i) * blocks + b);
    const Integers integers = integers_of(w, x);
    parts.i1[at] = integers.i1;
    if (w.has_min) parts.i2[at] = integers.i2;
  });
  return parts;
}

}  // namespace assay::reference
