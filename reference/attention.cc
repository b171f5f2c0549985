#include "reference/attention.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "reference/attention_bound.h"
#include "reference/bounds.h"
#include "reference/decode.h"
#include "reference/magnitudes.h"
#include "reference/outputs.h"

namespace assay::reference {
namespace {

constexpr const char* kDomain =
    "every q, k and v; only bits where max(1, |a|) sum |q k| (1 + g(h + 1)) >= FLT_MAX for an unmasked key, sums over finite "
    "terms, where (1 + G) sum |v| >= FLT_MAX or V is not finite, and where the bound is void";
constexpr const char* kBound =
    "(1+u)[sum t_j |v_j - o| + G (sum (w_j + t_j)|v_j| + (1+W)|o|) + sum over keys with max s - s_j + x_j > 86 of (R_j+1) 2^-148 "
    "(|v_j| + |o|) + (n_kv + blocks + 2 spans + 2) eta] / (1 - W - G(1+W)) + u|o|; void where that divisor is at most 1/2; "
    "D_j = g(h+1) |a| sum |q k_j|, h = ceil(head_dim/16) + 4; x_j = D_j + u(|s_j - max s| + D_j + max D) + (R_j+1) 2Eu, R_j = "
    "blocks "
    "after j's + spans; t_j = (e^x_j - 1) w_j; W = sum t; G = g(min(n_kv, 1024) + min(blocks, 64) + 2 spans + 1); 0 where every "
    "v is 0";

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// What decode and prefill share.
struct Shape {
  std::int64_t rows, n_heads, n_kv, head_dim, position, window, q_row_stride, q_head_stride;
  double scale;
  bool causal;
  const AssayKvSpan* spans;
  std::int64_t span_count;

  std::int64_t first() const { return span_count == 0 ? 0 : spans[0].first; }
  std::int64_t end() const { return span_count == 0 ? 0 : spans[span_count - 1].first + spans[span_count - 1].count; }
};

template <class Args>
Shape shape_of(const Args& a) {
  Shape shape{1,
              a.n_heads,
              a.n_kv,
              a.head_dim,
              a.position,
              a.window,
              0,
              a.q_head_stride,
              static_cast<double>(a.scale),
              a.causal != 0,
              a.spans,
              a.span_count};
  if constexpr (requires { a.rows; }) {
    shape.rows = a.rows;
    shape.q_row_stride = a.q_row_stride;
  }
  return shape;
}

struct Range {
  std::int64_t begin, end;
};

// The unmasked positions of the query at `position`.
Range unmasked(const Shape& shape, std::int64_t position) {
  if (!shape.causal) return {shape.first(), shape.end()};
  const std::int64_t begin = shape.window > 0 ? std::max<std::int64_t>(0, position - shape.window + 1) : 0;
  if (begin < shape.first())
    throw std::invalid_argument("attention: the view begins at " + std::to_string(shape.first()) + ", position " +
                                std::to_string(position) + " sees from " + std::to_string(begin));
  const std::int64_t end = std::min(position + 1, shape.end());
  return {std::min(begin, end), end};
}

// Positions of one kv head, decoded. `base` and the strides pick K or V out of a span.
template <class Element, class Decode, class Place>
RowMatrix gather(const Shape& shape, Range range, Decode decode, Place place) {
  RowMatrix rows(range.end - range.begin, shape.head_dim);
  for (std::int64_t s = 0; s < shape.span_count; ++s) {
    const AssayKvSpan& span = shape.spans[s];
    const std::int64_t last = std::min(range.end, span.first + span.count);
    for (std::int64_t p = std::max(range.begin, span.first); p < last; ++p) {
      const auto* row = static_cast<const Element*>(place(span, p - span.first));
      std::transform(row, row + shape.head_dim, &rows(p - range.begin, 0), decode);
    }
  }
  return rows;
}

struct Cache {
  Range range;  // of positions
  RowMatrix k, v;
};

void set_head(Expected& y, std::int64_t first, std::int64_t count, double value) {
  for (std::int64_t c = 0; c < count; ++c) set_bounded(y, first + c, value, 0);
}

// One query against the positions that it sees; its outputs begin at `first` in y.
void attend(const Shape& shape, const Cache& cache, Range range, const Eigen::VectorXd& q, std::int64_t first, Expected& y) {
  const Eigen::Index begin = range.begin - cache.range.begin;
  const Eigen::Index count = range.end - range.begin;
  const Eigen::MatrixXd k = cache.k.middleRows(begin, count);
  const Eigen::ArrayXd score = shape.scale * (k * q).array();
  const Eigen::ArrayXd extent = (finite_magnitudes(k) * finite_magnitudes(q)).array();
  const bool overflow =
      (std::max(1.0, std::abs(shape.scale)) * extent * (1 + g(dot16_depth(shape.head_dim) + 1)) >= kFloatMax).any();

  AttentionKeys keys;
  for (Eigen::Index j = 0; j < count; ++j) {
    if (std::isnan(score[j]) || score[j] == std::numeric_limits<double>::infinity())
      return set_head(y, first, shape.head_dim, std::numeric_limits<double>::quiet_NaN());
    if (!std::isinf(score[j])) keys.position.push_back(range.begin + j);  // -inf counts as masked
  }
  set_head(y, first, shape.head_dim, 0);
  if (!keys.position.empty()) {
    std::vector<Eigen::Index> kept;
    for (const std::int64_t p : keys.position) kept.push_back(p - range.begin);
    keys.score = score(kept);
    keys.extent = std::abs(shape.scale) * extent(kept);
    keys.v = cache.v.middleRows(begin, count)(kept, Eigen::all);
    const AttentionOutputs outputs = attention_outputs(keys);
    for (Eigen::Index c = 0; c < shape.head_dim; ++c) {
      set_bounded(y, first + c, outputs.value[c], outputs.bound[c]);
      if (outputs.bits_only[c]) set_bits_only(y, first + c);
    }
  }
  for (std::int64_t c = 0; c < shape.head_dim && overflow; ++c) set_bits_only(y, first + c);
}

template <class Element, class Decode, class Args>
void attention(const Args& args, Expected& y) {
  const Shape shape = shape_of(args);
  if (!shape.causal && shape.window != 0) throw std::invalid_argument("attention: a window without causal");
  resize_bounded(y, shape.rows * shape.n_heads * shape.head_dim);
  if (shape.rows == 0 || shape.n_heads == 0 || shape.span_count == 0) return;
  const Range all{unmasked(shape, shape.position).begin, unmasked(shape, shape.position + shape.rows - 1).end};
  const Decode decode;
  const std::int64_t group = shape.n_heads / shape.n_kv;
  for (std::int64_t head = 0; head < shape.n_heads; ++head) {
    const std::int64_t kv = head / group;
    const Cache cache{all,
                      gather<Element>(shape, all, decode,
                                      [kv](const AssayKvSpan& s, std::int64_t row) {
                                        return static_cast<const Element*>(s.k) + kv * s.k_head_stride + row * s.k_row_stride;
                                      }),
                      gather<Element>(shape, all, decode, [kv](const AssayKvSpan& s, std::int64_t row) {
                        return static_cast<const Element*>(s.v) + kv * s.v_head_stride + row * s.v_row_stride;
                      })};
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const float* q = args.q + row * shape.q_row_stride + head * shape.q_head_stride;
      attend(shape, cache, unmasked(shape, shape.position + row),
             Eigen::Map<const Eigen::VectorXf>(q, shape.head_dim).cast<double>(), (row * shape.n_heads + head) * shape.head_dim,
             y);
    }
  }
}

}  // namespace

const Contract kAttnDecodeF32Contract{kDomain, Exactness::bounded, kBound, BiasUnit::row};
const Contract kAttnDecodeF16Contract{kDomain, Exactness::bounded, kBound, BiasUnit::row};
const Contract kAttnPrefillF32Contract{kDomain, Exactness::bounded, kBound, BiasUnit::row};
const Contract kAttnPrefillF16Contract{kDomain, Exactness::bounded, kBound, BiasUnit::row};

void attn_decode_f32(const AttnDecodeF32Args& args, Expected& y) {
  attention<float, DecodeF32>(args, y);
}
void attn_decode_f16(const AttnDecodeF16Args& args, Expected& y) {
  attention<std::uint16_t, Decode16<Half>>(args, y);
}
void attn_prefill_f32(const AttnPrefillF32Args& args, Expected& y) {
  attention<float, DecodeF32>(args, y);
}
void attn_prefill_f16(const AttnPrefillF16Args& args, Expected& y) {
  attention<std::uint16_t, Decode16<Half>>(args, y);
}

}  // namespace assay::reference
