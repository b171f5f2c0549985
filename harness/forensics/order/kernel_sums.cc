#include "harness/forensics/order/kernel_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/verdict/cases.h"
#include "harness/verdict/discipline/poison.h"

namespace assay::order {
namespace {

// With these a tail, a part of a block and many blocks are seen.
constexpr std::int64_t kLengths[] = {16, 100, 1000, 4096};
constexpr std::int64_t kKeys[] = {16, 100, 1000, 2100};  // a span of 1024, too
constexpr std::int64_t kWideKeys = 100;                  // more of them are narrow, so that a call is short
constexpr std::int64_t kBlocks[] = {3, 16, 33};
constexpr std::int64_t kPlaces = 32;  // sums of a call

bool is_family(const Op& op, std::string_view name) {
  return op.family->name == name;
}

// Sums of the same terms at all places of a call must be one number.
std::vector<std::string> uneven_places(const Sum& sum) {
  if (sum.places < 2 || !sum.counts) return {};
  Sum::Factors row(static_cast<std::size_t>(sum.terms));
  std::uint64_t state = 1;
  for (double& one : row) one = 1 + static_cast<double>(split_mix(state) % 128) / 128;
  const std::vector<Sum::Factors> rows(static_cast<std::size_t>(sum.places), row);
  // x is no power of two, so that products are rounded.
  Sum::Factors x(row.rbegin(), row.rend());
  for (double& one : x) one += 0x1p-20;
  const std::vector<double> found = sum.run(rows, x);
  const auto other = std::ranges::find_if(found, [&](double one) { return one != found.front(); });
  if (other == found.end()) return {};
  return {fmt::format("where the output lies: output {} and output 0 of the same terms differ", other - found.begin())};
}

Sum at_first_place(const Sum& sum) {
  Sum one = sum;
  one.places = 1;
  return one;
}

}  // namespace

KernelSum signed_sum(std::string what, const Shape& canonical, const Sum& sum, const std::shared_ptr<std::string>& differs) {
  return {std::move(what), sum.terms, canonical, [sum, differs](std::span<const Tree> expected) {
            std::vector<std::string> depends = uneven_places(sum);
            Found found = discover(depends.empty() ? sum : at_first_place(sum), expected);
            found.depends = std::move(depends);
            if (differs && !differs->empty()) found.depends.push_back(*differs);
            return found;
          }};
}

std::vector<double> columns_of(const Array& y, std::int64_t columns, std::string& differs) {
  std::vector<double> first;
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    const double value = y.number(i);
    if (i < columns) {
      first.push_back(value);
    } else if (differs.empty() && value != first[static_cast<std::size_t>(i % columns)]) {
      differs = fmt::format("the row: rows 0 and {} of the same terms differ", i / columns);
    }
  }
  return first;
}

std::vector<KernelSum> sums_of(KernelCall& kernel) {
  const Op& op = kernel.call().op();
  if (is_family(op, "product") && !is_block(op.from)) return {products_of_numbers(kernel)};
  if (is_family(op, "product")) return {op.to == DType::f32 ? products_of_decoded(kernel) : products_of_blocks(kernel)};
  if (is_family(op, "rms_norm")) return {squares_of_norm(kernel)};
  if (is_family(op, "softmax")) return {exponentials_of_softmax(kernel)};
  if (is_family(op, "attention")) return sums_of_attention(kernel);
  throw std::invalid_argument(
      fmt::format("{} adds up no floats, or two at most; expected a product, a norm, a softmax or attention", op.name));
}

Params params_of_length(const Op& op, std::int64_t length) {
  if (is_family(op, "attention")) {
    const std::int64_t dims = length <= kWideKeys ? 100 : 32;
    return complete_params(op, {{"length", length},
                                {"head_dim", dims},
                                {"n_kv", std::int64_t{16}},
                                {"group", std::int64_t{1}},
                                {"causal", std::int64_t{0}},
                                {"scale", 0.5}});
  }
  if (is_family(op, "product")) {
    Params params{{"k", length}};
    if (is_block(op.from)) params.set("n", kPlaces);
    return complete_params(op, params);
  }
  return complete_params(op, {{"n", length}, {"rows", kPlaces}});
}

std::vector<std::int64_t> usual_lengths(const Op& op) {
  if (is_family(op, "attention")) return {std::begin(kKeys), std::end(kKeys)};
  if (!is_family(op, "product")) return {std::begin(kLengths), std::end(kLengths) - 1};
  if (!is_block(op.from)) return {std::begin(kLengths), std::end(kLengths)};
  std::vector<std::int64_t> lengths;
  for (const std::int64_t blocks : kBlocks) lengths.push_back(blocks * dtype_numbers(op.from));
  return lengths;
}

}  // namespace assay::order
