// Attention adds up three times: a score's products over head_dim, and over keys the weights and the weighted values.
#include <algorithm>
#include <cmath>

#include "harness/forensics/order/kernel_sums.h"
#include "harness/forensics/order/positive.h"

namespace assay::order {
namespace {

constexpr Shape kScore{.lanes = 16, .joined = Join::halves};
constexpr Shape kWeights{.span = 1024, .block = 16, .lanes = 16, .joined = Join::halves};
constexpr Shape kValues{.span = 1024};
constexpr double kNoWeight = -200;  // e to it is 0 in f32

// A call of one view, whose heads are sums of their own. Each query sees all keys.
struct View {
  KernelCall& kernel;
  std::int64_t heads, group, keys, dims;
  double scale;

  explicit View(KernelCall& call)
      : kernel(call),
        heads(integer("n_kv")),
        group(integer("group")),
        keys(integer("length")),
        dims(integer("head_dim")),
        scale(call.call().params().real("scale")) {
    const Params& params = call.call().params();
    if (params.integer_or("causal", 0) != 0 || params.integer_or("window", 0) != 0 ||
        params.integer_or("first_position", 0) != 0 || params.integer_or("span_positions", 0) != 0 || scale == 0)
      throw std::invalid_argument(
          "orders of attention are looked into with causal=0, without a window, in one span from position 0, with a scale");
  }

  std::int64_t integer(std::string_view name) const { return kernel.call().params().integer(name); }
  void clear() const {
    for (const char* const name : {"q", "k", "v"}) std::ranges::fill(kernel.input(name).bytes, 0);
  }
  // Of all queries of a head.
  void set_query(std::int64_t head, std::int64_t dim, double value) const {
    Array& q = kernel.input("q");
    for (std::int64_t row = 0; row < q.elements() / (heads * group * dims); ++row) {
      for (std::int64_t one = head * group; one < (head + 1) * group; ++one)
        set_number(q, (row * heads * group + one) * dims + dim, value);
    }
  }
  void set(const char* tensor, std::int64_t head, std::int64_t key, std::int64_t dim, double value) const {
    set_number(kernel.input(tensor), (head * keys + key) * dims + dim, value);
  }
  double result(const Array& y, std::int64_t head, std::int64_t dim) const { return y.number(head * group * dims + dim); }
};

// Key 1 has the score and the value 1, all others 0, so that y is e^s / (keys - 1 + e^s). Powers of two are shared out between q and k, whose
// types may be narrow.
KernelSum products_of_score(View view) {
  constexpr int kOfKey = 12;
  Sum sum{.terms = static_cast<int>(view.dims),
          .places = static_cast<int>(view.heads),
          .least = -6,
          .most = 24,
          .long_x = true,
          .counts = false,
          .lifted = 24};
  sum.run = [view](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    view.clear();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto head = static_cast<std::int64_t>(row);
      for (std::size_t c = 0; c < rows[row].size(); ++c) {
        if (rows[row][c] == 0) continue;
        const int exponent = std::ilogb(rows[row][c]);
        const int of_query = std::max(0, exponent - kOfKey);
        const auto dim = static_cast<std::int64_t>(c);
        view.set_query(head, dim, std::ldexp(x.empty() ? 1 : x[c], of_query));
        view.set("k", head, 1, dim, std::ldexp(rows[row][c], -of_query));
      }
      view.set("v", head, 1, 0, 1);
    }
    const Array y = view.kernel.run();
    std::vector<double> scores;
    const double even = static_cast<double>(static_cast<float>(1 / static_cast<double>(view.keys)));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double got = view.result(y, static_cast<std::int64_t>(row), 0);
      const double apart = (got - even) * (view.scale > 0 ? 1 : -1);
      scores.push_back(std::abs(apart) < even * 0x1p-18 ? 0 : apart);
    }
    return scores;
  };
  return signed_sum("products of a score", kScore, sum);
}

// All scores are 0, so that y is the mean of v: each column a sum.
KernelSum weighted_values(View view) {
  Sum sum{.terms = static_cast<int>(view.keys), .places = static_cast<int>(view.heads * view.dims), .exact = false};
  if (view.kernel.call().op().from == DType::f16) {
    sum.least = -24;
    sum.most = 15;
  }
  sum.run = [view](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    view.clear();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto column = static_cast<std::int64_t>(row);
      for (std::size_t key = 0; key < rows[row].size(); ++key) {
        if (rows[row][key] == 0) continue;
        view.set("v", column / view.dims, static_cast<std::int64_t>(key), column % view.dims,
                 rows[row][key] * (x.empty() ? 1 : x[key]));
      }
    }
    const Array y = view.kernel.run();
    std::vector<double> sums;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto column = static_cast<std::int64_t>(row);
      // The division and its undoing are off by a part in 2^22; sums here have fewer bits.
      const double product = view.result(y, column / view.dims, column % view.dims) * static_cast<double>(view.keys);
      int exponent = 0;
      const double part = std::frexp(product, &exponent);
      sums.push_back(std::isfinite(product) ? std::ldexp(std::nearbyint(std::ldexp(part, 20)), exponent - 20) : product);
    }
    return sums;
  };
  return signed_sum("weighted values", kValues, sum);
}

// Scores are logarithms of weights. Of the values one is 1, that of the largest weight: y is its part of the sum.
KernelSum weights(View view) {
  Positive sum{.terms = static_cast<int>(view.keys), .places = static_cast<int>(view.heads)};
  sum.large = [](int) { return std::vector{1.0}; };
  sum.run = [view](std::span<const Positive::Few> all) {
    view.clear();
    for (std::int64_t head = 0; head < view.heads; ++head) {
      view.set_query(head, 0, 1 / view.scale);
      for (std::int64_t key = 0; key < view.keys; ++key) view.set("k", head, key, 0, kNoWeight);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto head = static_cast<std::int64_t>(i);
      for (const auto& [at, value] : all[i]) view.set("k", head, at, 0, std::log(value));
      view.set("v", head, all[i].front().at, 0, 1);
    }
    const Array y = view.kernel.run();
    std::vector<double> results;
    for (std::size_t i = 0; i < all.size(); ++i) results.push_back(view.result(y, static_cast<std::int64_t>(i), 0));
    return results;
  };
  return {"weights", sum.terms, kWeights, [sum](std::span<const Tree> expected) { return discover(sum, expected); }};
}

}  // namespace

std::vector<KernelSum> sums_of_attention(KernelCall& kernel) {
  const View view(kernel);
  std::vector<KernelSum> sums;
  if (view.keys > 1) sums.push_back(products_of_score(view));
  sums.push_back(weights(view));
  sums.push_back(weighted_values(view));
  return sums;
}

}  // namespace assay::order
