#include "tests/planted_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "kernels/op_tables.h"
#include "reference/decode.h"

namespace assay {
namespace {

template <const OpTable& kOp>
AssayStatus right(const void* args) {
  return select_kernel(kOp).run(args);
}

AssayStatus rope_adjacent(const RopeArgs& args) {
  RopeArgs wrong = args;
  wrong.pairing = ASSAY_ROPE_ADJACENT;
  return right<kernel_tables::rope>(&wrong);
}

// The numbers of a cache.
template <const OpTable& kOp>
using Stored = std::conditional_t<std::string_view(kOp.op).ends_with("_f32"), float, std::uint16_t>;

template <const OpTable& kOp>
AssayStatus store_stride(const KvStoreArgs& args) {
  KvStoreArgs head = args;
  head.n_kv = 1;
  for (std::int64_t h = 0; h < args.n_kv; ++h) {
    head.src = args.src + h * args.src_head_stride;
    head.dst = static_cast<Stored<kOp>*>(args.dst) + h * args.n_kv * args.head_dim_padded;
    const AssayStatus status = right<kOp>(&head);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

// The view as kv head `head` alone sees it.
template <class Element>
std::vector<AssayKvSpan> view_of(const AssayKvSpan* spans, std::int64_t count, std::int64_t head) {
  std::vector<AssayKvSpan> out(spans, spans + count);
  for (AssayKvSpan& span : out) {
    span.k = static_cast<const Element*>(span.k) + head * span.k_head_stride;
    span.v = static_cast<const Element*>(span.v) + head * span.v_head_stride;
  }
  return out;
}

template <const OpTable& kOp>
AssayStatus kv_head_modulo(const AttentionArgs& args) {
  AttentionArgs head = args;
  head.n_heads = head.n_kv = 1;
  for (std::int64_t h = 0; h < args.n_heads; ++h) {
    const auto view = view_of<Stored<kOp>>(args.spans, args.span_count, h % args.n_kv);
    head.spans = view.data();
    head.q = args.q + h * args.q_head_stride;
    head.y = args.y + h * args.y_head_stride;
    const AssayStatus status = right<kOp>(&head);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

template <const OpTable& kOp>
AssayStatus query_stride(const AttentionArgs& args) {
  std::vector<AssayKvSpan> view(args.spans, args.spans + args.span_count);
  for (AssayKvSpan& span : view) span.k_head_stride = span.v_head_stride = args.q_head_stride;
  AttentionArgs wrong = args;
  wrong.spans = view.data();
  return right<kOp>(&wrong);
}

// Calls `one` for each query row, with its absolute position.
template <class One>
AssayStatus for_rows(const AttentionArgs& args, const One& one) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const AssayStatus status = one(args.q + row * args.q_row_stride, args.y + row * args.y_row_stride, args.position + row);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

template <const OpTable& kOp>
AssayStatus mask_short(const AttentionArgs& args) {
  return for_rows(args, [&](const float* q, float* y, std::int64_t position) {
    AttentionArgs wrong = args;
    wrong.q = q;
    wrong.y = y;
    wrong.position = std::max<std::int64_t>(position - 1, 0);
    wrong.rows = 1;
    return right<kOp>(&wrong);
  });
}

double number(const float* x) {
  return *x;
}
double number(const std::uint16_t* x) {
  return reference::Half::decode(*x);
}

// Online softmax over blocks of 16 keys, for one head.
template <class Element>
void attend(const float* q, std::span<const AssayKvSpan> view, std::int64_t position, std::int64_t d, double scale,
            bool rescale_sum, bool rescale_values, float* y) {
  double m = -std::numeric_limits<double>::infinity();
  double l = 0;
  std::vector<double> o(static_cast<std::size_t>(d));
  std::vector<double> s;
  for (const AssayKvSpan& span : view) {
    for (std::int64_t first = 0; first < span.count && span.first + first <= position; first += ASSAY_KV_BLOCK) {
      const std::int64_t keys = std::min({std::int64_t{ASSAY_KV_BLOCK}, span.count - first, position + 1 - span.first - first});
      const auto* const k = static_cast<const Element*>(span.k) + first * span.k_row_stride;
      const auto* const v = static_cast<const Element*>(span.v) + first * span.v_row_stride;
      s.assign(static_cast<std::size_t>(keys), 0);
      for (std::int64_t j = 0; j < keys; ++j) {
        for (std::int64_t i = 0; i < d; ++i)
          s[static_cast<std::size_t>(j)] += scale * q[i] * number(k + j * span.k_row_stride + i);
      }
      const double top = std::max(m, *std::ranges::max_element(s));
      const double c = std::exp(m - top);
      if (rescale_sum) l *= c;
      for (double& value : o) value *= rescale_values ? c : 1;
      m = top;
      for (std::int64_t j = 0; j < keys; ++j) {
        const double p = std::exp(s[static_cast<std::size_t>(j)] - m);
        l += p;
        for (std::int64_t i = 0; i < d; ++i) o[static_cast<std::size_t>(i)] += p * number(v + j * span.v_row_stride + i);
      }
    }
  }
  for (std::int64_t i = 0; i < d; ++i) y[i] = static_cast<float>(o[static_cast<std::size_t>(i)] / l);
}

template <const OpTable& kOp, bool kSum, bool kValues>
AssayStatus not_rescaled(const AttentionArgs& args) {
  return for_rows(args, [&](const float* q, float* y, std::int64_t position) {
    for (std::int64_t h = 0; h < args.n_heads; ++h) {
      const auto view = view_of<Stored<kOp>>(args.spans, args.span_count, h * args.n_kv / args.n_heads);
      attend<Stored<kOp>>(q + h * args.q_head_stride, view, position, args.head_dim, static_cast<double>(args.scale), kSum,
                          kValues, y + h * args.y_head_stride);
    }
    return ASSAY_OK;
  });
}

// e^(x/8) by five terms, to the eighth power: 1.7e-4 off at 4, more beyond.
double short_exp(double x) {
  const double t = x / 8;
  const double e = 1 + t * (1 + t / 2 * (1 + t / 3 * (1 + t / 4)));
  return std::pow(e, 8);
}

AssayStatus silu_large(const SwigluArgs& args) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t i = 0; i < args.n; ++i) {
      const double g = args.gate[row * args.gate_stride + i];
      const double up = args.up[row * args.up_stride + i];
      const double e = std::abs(g) > 4 ? short_exp(-g) : std::exp(-g);
      args.y[row * args.y_stride + i] = static_cast<float>(g / (1 + e) * up);
    }
  }
  return ASSAY_OK;
}

constexpr std::int64_t kTail = 16;

void drop_tail(std::vector<float>& x) {
  std::fill(x.end() - kTail, x.end(), 0.0F);
}
void drop_tail(std::vector<BlockQ8_K>& x) {
  std::fill(std::end(x.back().qs) - kTail, std::end(x.back().qs), std::int8_t{0});
  x.back().bsums[15] = 0;
}
void drop_tail(std::vector<BlockQ8_0>& x) {
  x.back().d = 0;
}

template <const OpTable& kOp, class Element>
AssayStatus tail_dropped(const ProductArgs& args) {
  constexpr std::int64_t kNumbers = std::is_same_v<Element, float> ? 1 : std::is_same_v<Element, BlockQ8_K> ? 256 : 32;
  ProductArgs row = args;
  row.m = 1;
  for (std::int64_t r = 0; r < args.m; ++r) {
    const auto* const first = static_cast<const Element*>(args.x) + r * args.x_stride;
    std::vector<Element> x(first, first + args.k / kNumbers);
    drop_tail(x);
    row.x = x.data();
    row.y = args.y + r * args.y_stride;
    const AssayStatus status = right<kOp>(&row);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

AssayStatus refusing(const void*) {
  return ASSAY_BAD_SHAPE;
}
AssayStatus unwritten(const void*) {
  return ASSAY_OK;
}

AssayStatus norm(const RmsNormArgs& args, bool outside) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.x_stride;
    double sum = 0;
    for (std::int64_t i = 0; i < args.n; ++i) sum += static_cast<double>(x[i]) * x[i];
    const auto n = static_cast<double>(args.n);
    const double eps = args.eps;
    const double root = outside ? std::sqrt(sum / n) + eps : std::sqrt((sum + eps) / n);
    for (std::int64_t i = 0; i < args.n; ++i) args.y[row * args.y_stride + i] = static_cast<float>(x[i] / root * args.w[i]);
  }
  return ASSAY_OK;
}
AssayStatus eps_outside(const RmsNormArgs& args) {
  return norm(args, true);
}
AssayStatus eps_in_sum(const RmsNormArgs& args) {
  return norm(args, false);
}

struct Wrong {
  Defect defect;
  std::string_view op;
  AssayStatus (*run)(const void* args);
};

// A function of a family's struct as one of any.
template <auto kRun>
struct Untyped;
template <class Args, AssayStatus (*kRun)(const Args&)>
struct Untyped<kRun> {
  static AssayStatus run(const void* args) { return kRun(*static_cast<const Args*>(args)); }
};

template <const OpTable& kOp>
void add_attention(std::vector<Wrong>& all) {
  all.insert(all.end(), {{Defect::kv_head_modulo, kOp.op, Untyped<kv_head_modulo<kOp>>::run},
                         {Defect::query_stride, kOp.op, Untyped<query_stride<kOp>>::run},
                         {Defect::mask_short, kOp.op, Untyped<mask_short<kOp>>::run},
                         {Defect::sum_not_rescaled, kOp.op, Untyped<not_rescaled<kOp, false, true>>::run},
                         {Defect::values_not_rescaled, kOp.op, Untyped<not_rescaled<kOp, true, false>>::run}});
}

template <class X, const OpTable&... kOps>
void add_products(std::vector<Wrong>& all) {
  (all.push_back({Defect::tail_dropped, kOps.op, Untyped<tail_dropped<kOps, X>>::run}), ...);
  (all.push_back({Defect::refusing, kOps.op, refusing}), ...);
}

std::vector<Wrong> all_wrong() {
  namespace k = kernel_tables;
  std::vector<Wrong> all{{Defect::rope_adjacent, k::rope.op, Untyped<rope_adjacent>::run},
                         {Defect::store_stride, k::kv_store_f32.op, Untyped<store_stride<k::kv_store_f32>>::run},
                         {Defect::store_stride, k::kv_store_f16.op, Untyped<store_stride<k::kv_store_f16>>::run},
                         {Defect::unwritten, k::kv_store_f32.op, unwritten},
                         {Defect::silu_large, k::swiglu.op, Untyped<silu_large>::run},
                         {Defect::eps_outside, k::rms_norm.op, Untyped<eps_outside>::run},
                         {Defect::eps_in_sum, k::rms_norm.op, Untyped<eps_in_sum>::run},
                         {Defect::unwritten, k::rms_norm.op, unwritten}};
  add_attention<k::attn_decode_f32>(all);
  add_attention<k::attn_decode_f16>(all);
  add_attention<k::attn_prefill_f32>(all);
  add_attention<k::attn_prefill_f16>(all);
  add_products<float, k::matvec_bf16, k::gemm_bf16, k::matvec_f16, k::gemm_f16>(all);
  add_products<BlockQ8_0, k::gemv_q8_0_x16_q8_0, k::gemm_q8_0_x16_q8_0>(all);
  add_products<BlockQ8_K, k::gemv_q4_k_x16_q8_k, k::gemm_q4_k_x16_q8_k, k::gemv_q6_k_x16_q8_k, k::gemm_q6_k_x16_q8_k>(all);
  return all;
}

Chosen chosen(Defect defect, const Op& op) {
  static const std::vector<Wrong> all = all_wrong();
  const auto found = std::ranges::find_if(all, [&](const Wrong& one) { return one.defect == defect && one.op == op.name; });
  if (found == all.end()) throw std::invalid_argument(std::string(op.name) + " has no " + defect_name(defect));
  return {.op = &op, .run = found->run, .name = defect_name(defect)};
}

}  // namespace

const char* defect_name(Defect defect) noexcept {
  constexpr const char* kNames[] = {
      "rope_adjacent",       "store_stride", "kv_head_modulo", "query_stride", "silu_large", "tail_dropped", "sum_not_rescaled",
      "values_not_rescaled", "mask_short",   "eps_outside",    "eps_in_sum",   "unwritten",  "refusing"};
  return kNames[static_cast<std::size_t>(defect)];
}

void plant(Engine& engine, const std::string& site, Defect defect) {
  const std::size_t step = engine.plan().find(site).value();
  const Step& of = engine.plan().steps[step];
  engine.calls().replace(step, chosen(defect, *of.decode), chosen(defect, *of.prefill));
}

}  // namespace assay
