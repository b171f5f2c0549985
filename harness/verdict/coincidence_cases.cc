#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "harness/verdict/cases.h"
#include "harness/verdict/coincidences.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/drawn_case.h"

namespace assay {
namespace {

// Of rows, in turn, and what a call of them may cost: first of short ones, then those of the first input again of long ones.
struct RowLength {
  std::int64_t numbers;
  double work;
};
constexpr RowLength kShortRows[] = {{40, 1 << 16}, {100, 1 << 16}, {300, 1 << 17}};
constexpr RowLength kLongRows[] = {{1100, 1 << 17}, {5000, 1 << 19}};
constexpr int kCoincidenceTries = 6;
constexpr std::int64_t kRowsApiece = 16;
constexpr std::size_t kCoincidenceCases = 64;  // of each kind
constexpr std::size_t kSearchedCases = 12;
constexpr std::size_t kInputsApart = 7;  // what two inputs have in the same call

// Of some draws the one whose inputs have most rows, each as long.
Params long_rows(const Op& op, const RowLength& length, Draws& draws) {
  const ShapeSpace space = op.family->shapes(op);
  Params best;
  std::int64_t most = -1;
  for (int i = 0; i < kCoincidenceTries; ++i) {
    Params params = draw_params(op, space, draws, length.work);
    std::int64_t worth = 0;
    for (const TensorSpec& spec : signature_of(op, params).tensors) {
      const std::int64_t row = std::max<std::int64_t>(spec.shape.back(), 1);
      if (spec.role == Direction::in) worth += std::min(row, length.numbers) * std::min(spec.elements() / row, kRowsApiece);
    }
    if (worth <= most) continue;
    most = worth;
    best = std::move(params);
  }
  return best;
}

// Of so many inputs, the first, all that there are.
void add_of(const Op& op, std::span<const RowLength> lengths, std::size_t inputs, std::uint64_t seed, std::size_t most,
            std::vector<TestCase>& cases) {
  std::vector<std::size_t> next, end;  // of each input
  const std::size_t before = cases.size();
  do {
    Draws draws(++seed);
    TestCase test = drawn_case(op, long_rows(op, lengths[seed % lengths.size()], draws), "gauss", seed);
    const Signature signature = signature_of(op, test.params);
    for (std::size_t i = next.size(); i < test.inputs.size(); ++i) {
      next.push_back(i * kInputsApart);
      end.push_back(next[i] + (i < inputs ? coincidences_of(test.inputs[i].dtype) : 0));
    }
    add_coincidences(op, signature, next, draws, test.inputs);
    test.status = status_for(op, test.params, signature, test.inputs);
    test.name = fmt::format("{} {}, {}", kCoincidences, seed, test.params.to_string());
    test.repro = "--case values";
    cases.push_back(std::move(test));
  } while (!std::ranges::equal(next, end, std::greater_equal()) && cases.size() < before + most);
}

}  // namespace

std::vector<TestCase> coincidence_cases(const Op& op) {
  std::vector<TestCase> cases;
  const bool searches = op.contract->exactness == reference::Exactness::encoded;  // each block at a high price
  add_of(op, kShortRows, SIZE_MAX, 0, searches ? kSearchedCases : kCoincidenceCases, cases);
  if (!searches) add_of(op, kLongRows, 1, kCoincidenceCases, kCoincidenceCases, cases);
  return cases;
}

}  // namespace assay
