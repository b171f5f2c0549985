#include "tests/planted_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "reference/decode.h"

namespace assay {
namespace {

template <class Op>
AssayStatus right(const typename Op::Args& args) {
  return select_kernel<Op>().run(&args);
}

AssayStatus rope_adjacent(const RopeArgs* args) noexcept {
  RopeArgs wrong = *args;
  wrong.pairing = ASSAY_ROPE_ADJACENT;
  return right<Rope>(wrong);
}

template <class Op>
AssayStatus store_stride(const typename Op::Args* args) noexcept {
  typename Op::Args head = *args;
  head.n_kv = 1;
  for (std::int64_t h = 0; h < args->n_kv; ++h) {
    head.src = args->src + h * args->src_head_stride;
    head.dst = args->dst + h * args->n_kv * args->head_dim_padded;
    const AssayStatus status = right<Op>(head);
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

template <class Op>
using CacheElement =
    std::conditional_t<std::is_same_v<Op, AttnDecodeF32> || std::is_same_v<Op, AttnPrefillF32>, float, std::uint16_t>;

template <class Op>
AssayStatus kv_head_modulo(const typename Op::Args* args) noexcept {
  typename Op::Args head = *args;
  head.n_heads = head.n_kv = 1;
  for (std::int64_t h = 0; h < args->n_heads; ++h) {
    const auto view = view_of<CacheElement<Op>>(args->spans, args->span_count, h % args->n_kv);
    head.spans = view.data();
    head.q = args->q + h * args->q_head_stride;
    head.y = args->y + h * args->y_head_stride;
    const AssayStatus status = right<Op>(head);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

template <class Op>
AssayStatus query_stride(const typename Op::Args* args) noexcept {
  std::vector<AssayKvSpan> view(args->spans, args->spans + args->span_count);
  for (AssayKvSpan& span : view) span.k_head_stride = span.v_head_stride = args->q_head_stride;
  typename Op::Args wrong = *args;
  wrong.spans = view.data();
  return right<Op>(wrong);
}

// Calls `one` for each query row, with its absolute position.
template <class Op, class One>
AssayStatus for_rows(const typename Op::Args& args, const One& one) {
  if constexpr (requires { args.rows; }) {
    for (std::int64_t row = 0; row < args.rows; ++row) {
      const AssayStatus status = one(args.q + row * args.q_row_stride, args.y + row * args.y_row_stride, args.position + row);
      if (status != ASSAY_OK) return status;
    }
    return ASSAY_OK;
  } else {
    return one(args.q, args.y, args.position);
  }
}

template <class Op>
AssayStatus mask_short(const typename Op::Args* args) noexcept {
  return for_rows<Op>(*args, [&](const float* q, float* y, std::int64_t position) {
    typename Op::Args wrong = *args;
    wrong.q = q;
    wrong.y = y;
    wrong.position = std::max<std::int64_t>(position - 1, 0);
    if constexpr (requires { wrong.rows; }) wrong.rows = 1;
    return right<Op>(wrong);
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

template <class Op, bool kSum, bool kValues>
AssayStatus not_rescaled(const typename Op::Args* args) noexcept {
  using Element = CacheElement<Op>;
  return for_rows<Op>(*args, [&](const float* q, float* y, std::int64_t position) {
    for (std::int64_t h = 0; h < args->n_heads; ++h) {
      const auto view = view_of<Element>(args->spans, args->span_count, h * args->n_kv / args->n_heads);
      attend<Element>(q + h * args->q_head_stride, view, position, args->head_dim, static_cast<double>(args->scale), kSum,
                      kValues, y + h * args->y_head_stride);
    }
    return ASSAY_OK;
  });
}
template <class Op>
AssayStatus sum_not_rescaled(const typename Op::Args* args) noexcept {
  return not_rescaled<Op, false, true>(args);
}
template <class Op>
AssayStatus values_not_rescaled(const typename Op::Args* args) noexcept {
  return not_rescaled<Op, true, false>(args);
}

// e^(x/8) by five terms, to the eighth power: 1.7e-4 off at 4, more beyond.
double short_exp(double x) {
  const double t = x / 8;
  const double e = 1 + t * (1 + t / 2 * (1 + t / 3 * (1 + t / 4)));
  return std::pow(e, 8);
}

AssayStatus silu_large(const SwigluArgs* args) noexcept {
  for (std::int64_t row = 0; row < args->rows; ++row) {
    for (std::int64_t i = 0; i < args->n; ++i) {
      const double g = args->gate[row * args->gate_stride + i];
      const double up = args->up[row * args->up_stride + i];
      const double e = std::abs(g) > 4 ? short_exp(-g) : std::exp(-g);
      args->y[row * args->y_stride + i] = static_cast<float>(g / (1 + e) * up);
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

template <class Op>
AssayStatus tail_dropped(const typename Op::Args* args) noexcept {
  using Element = std::remove_cvref_t<decltype(*args->x)>;
  constexpr std::int64_t kNumbers = std::is_same_v<Element, float> ? 1 : std::is_same_v<Element, BlockQ8_K> ? 256 : 32;
  typename Op::Args row = *args;
  std::int64_t rows = 1;
  if constexpr (requires { row.m; }) {
    rows = args->m;
    row.m = 1;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    if constexpr (requires { row.m; }) {
      row.x = args->x + r * args->x_stride;
      row.y = args->y + r * args->y_stride;
    }
    std::vector<Element> x(row.x, row.x + args->k / kNumbers);
    drop_tail(x);
    row.x = x.data();
    const AssayStatus status = right<Op>(row);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

template <class Op>
AssayStatus refusing(const typename Op::Args*) noexcept {
  return ASSAY_BAD_SHAPE;
}
template <class Op>
AssayStatus unwritten(const typename Op::Args*) noexcept {
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
AssayStatus eps_outside(const RmsNormArgs* args) noexcept {
  return norm(*args, true);
}
AssayStatus eps_in_sum(const RmsNormArgs* args) noexcept {
  return norm(*args, false);
}

struct Wrong {
  Defect defect;
  std::string_view op;
  void (*run)();
};

template <class Op>
Wrong wrong(Defect defect, KernelFn<Op> run) {
  return {defect, Op::name, reinterpret_cast<void (*)()>(run)};
}

template <class... Ops>
void add_attention(std::vector<Wrong>& all) {
  (all.push_back(wrong<Ops>(Defect::kv_head_modulo, kv_head_modulo<Ops>)), ...);
  (all.push_back(wrong<Ops>(Defect::query_stride, query_stride<Ops>)), ...);
  (all.push_back(wrong<Ops>(Defect::mask_short, mask_short<Ops>)), ...);
  (all.push_back(wrong<Ops>(Defect::sum_not_rescaled, sum_not_rescaled<Ops>)), ...);
  (all.push_back(wrong<Ops>(Defect::values_not_rescaled, values_not_rescaled<Ops>)), ...);
}

template <class... Ops>
void add_products(std::vector<Wrong>& all) {
  (all.push_back(wrong<Ops>(Defect::tail_dropped, tail_dropped<Ops>)), ...);
  (all.push_back(wrong<Ops>(Defect::refusing, refusing<Ops>)), ...);
}

std::vector<Wrong> all_wrong() {
  std::vector<Wrong> all{wrong<Rope>(Defect::rope_adjacent, rope_adjacent),
                         wrong<KvStoreF32>(Defect::store_stride, store_stride<KvStoreF32>),
                         wrong<KvStoreF16>(Defect::store_stride, store_stride<KvStoreF16>),
                         wrong<KvStoreF32>(Defect::unwritten, unwritten<KvStoreF32>),
                         wrong<Swiglu>(Defect::silu_large, silu_large),
                         wrong<RmsNorm>(Defect::eps_outside, eps_outside),
                         wrong<RmsNorm>(Defect::eps_in_sum, eps_in_sum),
                         wrong<RmsNorm>(Defect::unwritten, unwritten<RmsNorm>)};
  add_attention<AttnDecodeF32, AttnDecodeF16, AttnPrefillF32, AttnPrefillF16>(all);
  add_products<MatvecBf16, GemmBf16, MatvecF16, GemmF16, GemvQ80X16Q80, GemmQ80X16Q80, GemvQ4KX16Q8K, GemmQ4KX16Q8K,
               GemvQ6KX16Q8K, GemmQ6KX16Q8K>(all);
  return all;
}

Chosen chosen(Defect defect, const std::string& op) {
  static const std::vector<Wrong> all = all_wrong();
  const auto found = std::ranges::find_if(all, [&](const Wrong& one) { return one.defect == defect && one.op == op; });
  if (found == all.end()) throw std::invalid_argument(op + " has no " + defect_name(defect));
  return {Backend::kernels, found->run, defect_name(defect), nullptr};
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
  engine.calls().replace(step, chosen(defect, of.decode_op), chosen(defect, of.prefill_op));
}

}  // namespace assay
