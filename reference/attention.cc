#include "reference/attention.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

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

std::int64_t view_begin(const AttentionArgs& a) {
  return a.span_count == 0 ? 0 : a.spans[0].first;
}
std::int64_t view_end(const AttentionArgs& a) {
  return a.span_count == 0 ? 0 : a.spans[a.span_count - 1].first + a.spans[a.span_count - 1].count;
}

struct Range {
  std::int64_t begin, end;
};

// The unmasked positions of the query at `position`.
Range unmasked(const AttentionArgs& args, std::int64_t position) {
  if (args.causal == 0) return {view_begin(args), view_end(args)};
  const std::int64_t begin = args.window > 0 ? std::max<std::int64_t>(0, position - args.window + 1) : 0;
  if (begin < view_begin(args))
    throw std::invalid_argument("attention: the view begins at " + std::to_string(view_begin(args)) + ", position " +
                                std::to_string(position) + " sees from " + std::to_string(begin));
  const std::int64_t end = std::min(position + 1, view_end(args));
  return {std::min(begin, end), end};
}

// Positions of one kv head, decoded: [position, head_dim]. `base` and the strides pick K or V out of a span.
template <class Element, class Decode, class Place>
Eigen::MatrixXd gather(const AttentionArgs& args, Range range, Decode decode, Place place) {
  Eigen::MatrixXd rows(range.end - range.begin, args.head_dim);
  for (std::int64_t s = 0; s < args.span_count; ++s) {
    const AssayKvSpan& span = args.spans[s];
    const std::int64_t last = std::min(range.end, span.first + span.count);
    for (std::int64_t p = std::max(range.begin, span.first); p < last; ++p) {
      const auto* row = static_cast<const Element*>(place(span, p - span.first));
      for (std::int64_t c = 0; c < args.head_dim; ++c) rows(p - range.begin, c) = decode(row[c]);
    }
  }
  return rows;
}

// What the queries of a kv head share.
struct Cache {
  Range range;  // of positions
  std::vector<std::int64_t> positions;
  Eigen::MatrixXd k, v;
  Eigen::MatrixXd k_magnitudes;
};

template <class Element, class Decode>
Cache cache_of(const AttentionArgs& args, Range range, std::int64_t kv) {
  const Decode decode;
  Cache cache{range, std::vector<std::int64_t>(static_cast<std::size_t>(range.end - range.begin)), {}, {}, {}};
  std::iota(cache.positions.begin(), cache.positions.end(), range.begin);
  cache.k = gather<Element>(args, range, decode, [kv](const AssayKvSpan& s, std::int64_t row) {
    return static_cast<const Element*>(s.k) + kv * s.k_head_stride + row * s.k_row_stride;
  });
  cache.v = gather<Element>(args, range, decode, [kv](const AssayKvSpan& s, std::int64_t row) {
    return static_cast<const Element*>(s.v) + kv * s.v_head_stride + row * s.v_row_stride;
  });
  cache.k_magnitudes = finite_magnitudes(cache.k);
  return cache;
}

void set_head(Expected& y, std::int64_t first, std::int64_t count, double value) {
  for (std::int64_t c = 0; c < count; ++c) set_bounded(y, first + c, value, 0);
}

void set_outputs(Expected& y, std::int64_t first, const AttentionKeys& keys, const Arithmetic& how) {
  const AttentionOutputs outputs = attention_outputs(keys, how);
  for (Eigen::Index c = 0; c < outputs.value.size(); ++c) {
    set_bounded(y, first + c, outputs.value[c], outputs.bound[c]);
    if (outputs.bits_only[c] != 0) set_bits_only(y, first + c, outputs.bits_only[c]);
  }
}

// Of dots and the sums of their terms' magnitudes: those that come to -inf in f32, however they are summed, since all terms overflow and the
// positive ones alone do not. Those are half of what dot and extent come to, which fp64 has to within `slack`.
Eigen::Array<bool, Eigen::Dynamic, 1> surely_overflown(const Eigen::ArrayXd& dot, const Eigen::ArrayXd& extent,
                                                       std::int64_t head_dim) {
  const double growth = g(dot16_depth(head_dim) + 1);
  const double slack = static_cast<double>(head_dim + 2) * 0x1p-51;
  return dot.isFinite() && dot + growth * extent < -(1 + kU) * kFloatMax && extent + dot + slack * extent < kFloatMax;
}

// One query against the positions that it sees; its outputs begin at `first` in y.
void attend(const AttentionArgs& args, const Cache& cache, Range range, const Eigen::VectorXd& q, std::int64_t first,
            const Arithmetic& how, Expected& y) {
  const auto scale = static_cast<double>(args.scale);
  const Eigen::Index begin = range.begin - cache.range.begin;
  const Eigen::Index count = range.end - range.begin;
  const Eigen::ArrayXd dot = (cache.k.middleRows(begin, count) * q).array();
  const Eigen::VectorXd q_magnitudes = finite_magnitudes(q);
  const auto k_magnitudes = cache.k_magnitudes.middleRows(begin, count);
  const Eigen::ArrayXd extent = (k_magnitudes * q_magnitudes).array();
  Eigen::ArrayXd lost;
  if (how.flush) {
    const auto small = [](double x) { return x < kF32.normal() ? x : 0; };
    lost =
        std::abs(scale) * (k_magnitudes.unaryExpr(small) * q_magnitudes + k_magnitudes * q_magnitudes.unaryExpr(small)).array();
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Eigen::ArrayXd score = scale * dot;
  auto may_overflow = (std::max(1.0, std::abs(scale)) * extent * (1 + g(dot16_depth(args.head_dim) + 1)) >= kFloatMax).eval();
  if (how.own() && scale > 0 && may_overflow.any()) {
    const auto overflown = surely_overflown(dot, extent, args.head_dim);
    score = overflown.select(-kInfinity, score);
    may_overflow = may_overflow && !overflown;
  }
  const bool overflow = may_overflow.any();
  if (score.isNaN().any() || (score == kInfinity).any())
    return set_head(y, first, args.head_dim, std::numeric_limits<double>::quiet_NaN());
  set_head(y, first, args.head_dim, 0);
  const std::span<const std::int64_t> positions = std::span(cache.positions).subspan(begin, count);
  const auto v = cache.v.middleRows(begin, count);
  if ((score != -kInfinity).all()) {
    if (count > 0) set_outputs(y, first, {positions, score, std::abs(scale) * extent, lost, v}, how);
  } else {  // -inf counts as masked
    std::vector<Eigen::Index> kept;
    std::vector<std::int64_t> kept_positions;
    for (Eigen::Index j = 0; j < count; ++j) {
      if (score[j] == -kInfinity) continue;
      kept.push_back(j);
      kept_positions.push_back(range.begin + j);
    }
    const Eigen::MatrixXd kept_v = v(kept, Eigen::all);
    const Eigen::ArrayXd kept_lost = how.flush ? Eigen::ArrayXd(lost(kept)) : lost;
    if (!kept.empty())
      set_outputs(y, first, {kept_positions, score(kept), std::abs(scale) * extent(kept), kept_lost, kept_v}, how);
  }
  for (std::int64_t c = 0; c < args.head_dim && overflow; ++c) set_bits_only(y, first + c);
}

template <class Element, class Decode>
void attend_all(const AttentionArgs& args, const Arithmetic& how, Expected& y) {
  if (args.causal == 0 && args.window != 0) throw std::invalid_argument("attention: a window without causal");
  resize_bounded(y, args.rows * args.n_heads * args.head_dim);
  if (args.rows == 0 || args.n_heads == 0 || args.span_count == 0) return;
  const Range all{unmasked(args, args.position).begin, unmasked(args, args.position + args.rows - 1).end};
  const std::int64_t group = args.n_heads / args.n_kv;
  Cache cache;
  for (std::int64_t head = 0; head < args.n_heads; ++head) {
    if (head % group == 0) cache = cache_of<Element, Decode>(args, all, head / group);
    for (std::int64_t row = 0; row < args.rows; ++row) {
      const float* from = args.q + row * args.q_row_stride + head * args.q_head_stride;
      const std::int64_t first = (row * args.n_heads + head) * args.head_dim;
      Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXf>(from, args.head_dim).cast<double>();
      const bool held = how.x == nullptr || how.x->round({q.data(), static_cast<std::size_t>(args.head_dim)});
      attend(args, cache, unmasked(args, args.position + row), q, first, how, y);
      for (std::int64_t c = 0; c < args.head_dim && !held; ++c) set_bits_only(y, first + c);
    }
  }
}

}  // namespace

const Contract kAttentionContract{kDomain, Exactness::bounded, kBound, BiasUnit::row};

void attention(DType cache, const AttentionArgs& args, Expected& y) {
  declared_attention(cache, args, {}, y);
}

void declared_attention(DType cache, const AttentionArgs& args, const Arithmetic& how, Expected& y) {
  if (cache == DType::f32) return attend_all<float, DecodeF32>(args, how, y);
  attend_all<std::uint16_t, Decode16<Half>>(args, how, y);
}

}  // namespace assay::reference
