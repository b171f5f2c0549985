#include "harness/forensics/order/masked_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay::order {
namespace {

constexpr int kWidest = 70;  // bits: past those of any type in hand
constexpr int kStep = 8;     // exponents, where a mask is looked for

}  // namespace

std::vector<double> MaskedSum::call(std::span<const Factors> rows, const Factors& x) {
  ++calls_;
  std::vector<double> sums = sum_.run(rows, x);
  for (double& one : sums) one /= sum_.scale;
  return sums;
}

double MaskedSum::run_few(std::initializer_list<Term> terms) {
  Factors row(size());
  Factors x(size(), 1.0);
  for (const Term& term : terms) {
    const int of_w = std::clamp(term.exponent, sum_.least, sum_.most);
    row[static_cast<std::size_t>(term.at)] = term.sign * std::ldexp(1.0, of_w);
    x[static_cast<std::size_t>(term.at)] = std::ldexp(1.0, term.exponent - of_w);
  }
  return call({&row, 1}, x).front();
}

std::vector<double> MaskedSum::run_all(std::size_t count, const std::function<void(std::size_t, Factors&)>& fill) {
  std::vector<double> sums;
  const std::size_t at_once = masks_.by_x ? 1 : static_cast<std::size_t>(sum_.places);
  for (std::size_t from = 0; from < count; from += at_once) {
    std::vector<Factors> rows(std::min(at_once, count - from), Factors(size()));
    for (std::size_t i = 0; i < rows.size(); ++i) fill(from + i, rows[i]);
    const Factors x = masks_.by_x ? split(rows.front()) : Factors{};
    const std::vector<double> some = call(rows, x);
    sums.insert(sums.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(rows.size()));
  }
  return sums;
}

// Leaves in w what it can hold, and gives the rest.
MaskedSum::Factors MaskedSum::split(Factors& w) const {
  Factors x(size(), 1.0);
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (w[i] == 0) continue;
    const int exponent = std::ilogb(w[i]);
    const int of_w = std::clamp(exponent, sum_.least, sum_.most);
    x[i] = std::ldexp(1.0, exponent - of_w);
    w[i] = std::ldexp(w[i], of_w - exponent);
  }
  return x;
}

void MaskedSum::find_masks(bool by_x) {
  const int more = by_x ? sum_.x_most : 0;
  masks_ = {sum_.most + more, sum_.least - more, by_x};
  const int last = sum_.terms - 1;
  while (run_few({{0, masks_.mask}, {last, masks_.mask, -1}}) != 0) {
    masks_.mask -= kStep;
    if (masks_.mask <= masks_.unit) throw NotATree("2^e and -2^e add up to 0 for no e");
  }
  const auto unseen = [&](double sum) { return sum_.counts ? sum != std::ldexp(1.0, masks_.unit) : !(sum > 0); };
  while (unseen(run_few({{0, masks_.unit}}))) {
    masks_.unit += kStep;
    if (masks_.unit >= masks_.mask) throw NotATree("a term alone does not give itself");
  }
}

void MaskedSum::mask(Factors& row, int i, int j) const {
  row[static_cast<std::size_t>(i)] = std::ldexp(1.0, masks_.mask);
  row[static_cast<std::size_t>(j)] = -std::ldexp(1.0, masks_.mask);
}

// Beside one of the other sign, a power of two, bits are half as large below it.
bool MaskedSum::is_lost(int other, int with, int distance) {
  const auto lost_with = [&](double sign) {
    return run_few({{0, masks_.mask}, {other, masks_.mask - distance, sign}, {with, masks_.mask, -1}}) == 0;
  };
  return lost_with(1) || lost_with(-1);
}

std::optional<Accumulator> MaskedSum::beside(int other, int known) {
  const int deepest = std::min(kWidest, masks_.mask - masks_.unit);
  const auto lost = [&](int with, int distance) { return is_lost(other, with, distance); };
  // The other must be added before 0 and its negative meet: where they do so late.
  int with = 0;
  for (int at = sum_.terms - 1; at > 0 && with == 0; --at) {
    if (at != other && lost(at, deepest)) with = at;
  }
  if (with != 0 && known > 1 && !lost(with, known - 1)) return std::nullopt;
  int distance = with == 0 ? deepest : 1;
  while (distance < deepest && !lost(with, distance)) ++distance;
  // What is no power of two is lost a bit later.
  const int odd = std::has_single_bit(static_cast<std::uint64_t>(sum_.scale)) ? 0 : 1;
  const bool at_least = with == 0 || (distance == deepest && !lost(with, distance));
  return Accumulator{distance - (at_least ? 0 : odd), at_least};
}

}  // namespace assay::order
