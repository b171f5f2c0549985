#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

#include "harness/verdict/cases.h"
#include "harness/verdict/coincidences.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/drawn_case.h"

namespace assay {
namespace {

// In turn: first short ones, then for the first input again long ones.
constexpr WantedRows kShortRows[] = {{16, 40, 1 << 16}, {16, 100, 1 << 16}, {16, 300, 1 << 17}};
constexpr WantedRows kLongRows[] = {{16, 1100, 1 << 17}, {16, 5000, 1 << 19}};
constexpr int kCoincidenceTries = 6;
constexpr std::size_t kCoincidenceCases = 64;  // of each kind
constexpr std::size_t kSearchedCases = 12;
constexpr std::size_t kInputsApart = 7;  // what two inputs have in the same call

// Of so many inputs, the first, all that there are.
void add_of(const Op& op, std::span<const WantedRows> wanted, std::size_t inputs, std::uint64_t seed, std::size_t most,
            std::vector<TestCase>& cases) {
  std::vector<std::size_t> next, end;  // of each input
  const std::size_t before = cases.size();
  do {
    Draws draws(++seed);
    TestCase test = drawn_case(op, most_rows_of(op, draws, kCoincidenceTries, wanted[seed % wanted.size()]), "gauss", seed);
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

// Indices into a vocabulary that are alike in 16 bits.
void add_alike(const Op& op, std::vector<TestCase>& cases) {
  constexpr std::int64_t kRows = 3;
  constexpr std::int64_t kApart = 1 << 16;
  const Params params = sized(op.family->shapes(op), [](const Size& size) {
    const bool vocabulary = std::ranges::find(size.in_use, Column::vocab) != size.in_use.end();
    return vocabulary ? kRows * kApart : size.in_use.empty() ? kRows : size.unit;
  });
  const Signature signature = signature_of(op, params);
  const auto indices = std::ranges::find_if(signature.tensors, [](const TensorSpec& spec) {
    return spec.role == Direction::in && spec.dtype == DType::i32 && spec.data && spec.data->high > kApart;
  });
  if (indices == signature.tensors.end() || !params.has("vocab")) return;
  TestCase test = drawn_case(op, params, "gauss", 1);
  Array& array = test.inputs[static_cast<std::size_t>(indices - signature.tensors.begin())];
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const auto index = static_cast<std::int32_t>(kApart / 2 + i * kApart);
    std::memcpy(&array.bytes[static_cast<std::size_t>(i) * sizeof index], &index, sizeof index);
  }
  test.status = status_for(op, params, signature, test.inputs);
  test.name = fmt::format("{} alike in 16 bits, {}", indices->name, params.to_string());
  test.repro = "--case values";
  cases.push_back(std::move(test));
}

}  // namespace

std::vector<TestCase> coincidence_cases(const Op& op) {
  std::vector<TestCase> cases;
  add_alike(op, cases);
  const bool searches = op.contract->exactness == reference::Exactness::encoded;  // each block at a high price
  add_of(op, kShortRows, SIZE_MAX, 0, searches ? kSearchedCases : kCoincidenceCases, cases);
  if (!searches) add_of(op, kLongRows, 1, kCoincidenceCases, kCoincidenceCases, cases);
  return cases;
}

}  // namespace assay
