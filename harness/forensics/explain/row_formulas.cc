// Other formulas of a row than rms_norm's and softmax's, each in the place where kernels have it.
#include "harness/forensics/explain/formula.h"
#include "reference/arithmetic.h"

namespace assay::why {
namespace {

double mean_square(const Row& row) {
  return row.squares / static_cast<double>(row.x.size());
}
double root_of(const Row& row, double mean) {
  return std::sqrt(mean + row.eps);
}
double norm_of(const Row& row, std::size_t i, double divisor) {
  return static_cast<double>(row.x[i]) / divisor * static_cast<double>(row.other[i]);
}
double exp_of(const Row& row, std::size_t i) {
  return std::exp(static_cast<double>(row.x[i]) - row.most);
}
double rounded(const char* type, double value) {
  return reference::find_number(type)->round(value);
}
// The mean over a length rounded up to a step.
template <std::size_t kStep>
double norm_over_steps(const Row& row, std::size_t i) {
  const std::size_t steps = (row.x.size() + kStep - 1) / kStep;
  return norm_of(row, i, root_of(row, row.squares / static_cast<double>(steps * kStep)));
}
// What is normalised is rounded before it meets its weight, as models in a narrow type have it.
double norm_rounded(const char* type, const Row& row, std::size_t i) {
  const double normalised = static_cast<double>(row.x[i]) / root_of(row, mean_square(row));
  return rounded(type, normalised * row.nudge) * static_cast<double>(row.other[i]);
}
double root_rounded(const char* type, const Row& row, std::size_t i) {
  return norm_of(row, i, 1 / rounded(type, row.nudge / root_of(row, mean_square(row))));
}

double softmax_from(double offset, const Row& row, std::size_t i) {
  return row.exp_from(i, offset) / row.sum_from(offset);
}
double most_of_first(const Row& row, std::size_t count) {
  double most = -INFINITY;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, static_cast<double>(row.x[i]));
  return most;
}

constexpr Formula kRowFormulas[] = {
    {"rms_norm", "eps-outside-root", "eps", "eps is added to the root, not under it",
     [](const Row& r, std::size_t i) { return norm_of(r, i, std::sqrt(mean_square(r)) + r.eps); }},
    {"rms_norm", "eps-before-mean", "eps", "eps is added to the sum of squares, not to their mean",
     [](const Row& r, std::size_t i) { return norm_of(r, i, std::sqrt((r.squares + r.eps) / static_cast<double>(r.x.size()))); }},
    {"rms_norm", "no-eps", "eps", "eps is left out",
     [](const Row& r, std::size_t i) { return norm_of(r, i, std::sqrt(mean_square(r))); }},
    {"rms_norm", "no-root", "root", "it is divided by the mean square, not by its root",
     [](const Row& r, std::size_t i) { return norm_of(r, i, mean_square(r) + r.eps); }},
    {"rms_norm", "sum-for-mean", "mean", "the sum of squares stands in the place of their mean",
     [](const Row& r, std::size_t i) { return norm_of(r, i, std::sqrt(r.squares + r.eps)); }},
    {"rms_norm", "goes-on", "carry", "the sum of squares goes on from the row before",
     [](const Row& r, std::size_t i) {
       return norm_of(r, i, std::sqrt(r.squares_so_far / static_cast<double>(r.x.size()) + r.eps));
     }},
    {"rms_norm", "mean-of-8", "mean", "the mean is taken over the length rounded up to eight", norm_over_steps<8>},
    {"rms_norm", "mean-of-16", "mean", "the mean is taken over the length rounded up to sixteen", norm_over_steps<16>},
    {"rms_norm", "mean-of-32", "mean", "the mean is taken over the length rounded up to 32", norm_over_steps<32>},
    {"rms_norm", "magnitudes", "mean", "magnitudes are summed, not squares",
     [](const Row& r, std::size_t i) { return norm_of(r, i, root_of(r, r.magnitudes / static_cast<double>(r.x.size()))); }},
    {"rms_norm", "weights-in-the-mean", "mean", "the mean is taken of what the weights have been multiplied with",
     [](const Row& r, std::size_t i) { return norm_of(r, i, root_of(r, r.weighted / static_cast<double>(r.x.size()))); }},
    {"rms_norm", "first-root", "carry", "all rows are divided by the root of the first",
     [](const Row& r, std::size_t i) { return norm_of(r, i, root_of(r, r.first_squares / static_cast<double>(r.x.size()))); }},
    {"rms_norm", "in-bf16-before-weights", "narrowed", "what is normalised is rounded to bf16 before it meets its weight",
     [](const Row& r, std::size_t i) { return norm_rounded("bf16", r, i); }, true},
    {"rms_norm", "in-f16-before-weights", "narrowed", "what is normalised is rounded to f16 before it meets its weight",
     [](const Row& r, std::size_t i) { return norm_rounded("f16", r, i); }, true},
    {"rms_norm", "root-in-bf16", "narrowed", "the reciprocal root is rounded to bf16",
     [](const Row& r, std::size_t i) { return root_rounded("bf16", r, i); }, true},
    {"rms_norm", "root-in-f16", "narrowed", "the reciprocal root is rounded to f16",
     [](const Row& r, std::size_t i) { return root_rounded("f16", r, i); }, true},
    {"rms_norm", "mean-of-n-1", "mean", "the mean is taken over one element less",
     [](const Row& r, std::size_t i) {
       return norm_of(r, i, std::sqrt(r.squares / (static_cast<double>(r.x.size()) - 1) + r.eps));
     }},
    {"rms_norm", "centred", "mean", "the mean is taken off first, as a layer norm does",
     [](const Row& r, std::size_t i) {
       const double m = r.mean;
       return (static_cast<double>(r.x[i]) - m) / std::sqrt(mean_square(r) - m * m + r.eps) * static_cast<double>(r.other[i]);
     }},
    {"rms_norm", "own-row-as-weights", "operand", "the row itself stands in the place of the weights",
     [](const Row& r, std::size_t i) {
       return static_cast<double>(r.x[i]) * static_cast<double>(r.x[i]) / std::sqrt(mean_square(r) + r.eps);
     }},
    {"rms_norm", "multiplied", "root", "it is multiplied by the root, not divided",
     [](const Row& r, std::size_t i) { return norm_of(r, i, 1 / std::sqrt(mean_square(r) + r.eps)); }},
    {"softmax", "not-divided", "missing division", "the row is not divided by its sum", exp_of},
    {"softmax", "tail-not-divided", "missing division", "past the last sixteen the row is not divided by its sum",
     [](const Row& r, std::size_t i) { return i < r.x.size() / 16 * 16 ? exp_of(r, i) / r.exps : exp_of(r, i); }},
    {"softmax", "power-of-two", "activation", "powers of 2 stand in the place of those of e",
     [](const Row& r, std::size_t i) { return std::exp2(static_cast<double>(r.x[i]) - r.most) / r.powers_of_two; }},
    {"softmax", "no-maximum", "range", "the maximum is not taken off",
     [](const Row& r, std::size_t i) { return softmax_from(0, r, i); }, true},
    {"softmax", "maximum-from-zero", "range", "the search for the maximum begins at 0",
     [](const Row& r, std::size_t i) { return softmax_from(std::max(0.0, r.most), r, i); }, true},
    {"softmax", "first-maximum", "range", "the first element is taken off, not the maximum",
     [](const Row& r, std::size_t i) { return softmax_from(static_cast<double>(r.x[0]), r, i); }, true},
    {"softmax", "maximum-of-first-row", "carry", "the maximum of the first row is taken off all rows",
     [](const Row& r, std::size_t i) { return softmax_from(r.first_most, r, i); }, true},
    {"softmax", "maximum-of-16", "tail", "past the last sixteen no maximum is looked for",
     [](const Row& r, std::size_t i) {
       return softmax_from(r.x.size() < 16 ? r.most : most_of_first(r, r.x.size() / 16 * 16), r, i);
     },
     true},
    {"softmax", "maximum-of-8", "tail", "past the last eight no maximum is looked for",
     [](const Row& r, std::size_t i) {
       return softmax_from(r.x.size() < 8 ? r.most : most_of_first(r, r.x.size() / 8 * 8), r, i);
     },
     true},
    {"softmax", "one-more-of-zero", "mean", "the sum has one more, of a zero",
     [](const Row& r, std::size_t i) { return exp_of(r, i) / (r.exps + std::exp(-r.most)); }},
    {"softmax", "one-more", "mean", "1 is added to the sum",
     [](const Row& r, std::size_t i) { return exp_of(r, i) / (r.exps + 1); }},
    {"softmax", "goes-on", "carry", "the sum goes on from the row before",
     [](const Row& r, std::size_t i) { return exp_of(r, i) / r.exps_so_far; }},
    {"softmax", "logarithm", "missing division", "the logarithm of the softmax is given",
     [](const Row& r, std::size_t i) { return std::log(exp_of(r, i) / r.exps); }},
};

// The op's own, for sums over other elements.
constexpr Formula kSummed[] = {
    {"rms_norm", "summed", "", "of the row's squares",
     [](const Row& r, std::size_t i) { return norm_of(r, i, root_of(r, mean_square(r))); }},
    {"softmax", "summed", "", "of the row's sum", [](const Row& r, std::size_t i) { return exp_of(r, i) / r.exps; }}};

}  // namespace

std::span<const Formula> row_formulas() {
  return kRowFormulas;
}
std::span<const Formula> summed_formulas() {
  return kSummed;
}

}  // namespace assay::why
