// Cases whose data have a pattern that no draw has.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string_view>

#include "harness/verdict/cases.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/drawn_case.h"
#include "harness/verdict/patterns.h"
#include "harness/verdict/placements.h"
#include "harness/verdict/row_patterns.h"
#include "harness/verdict/strided.h"

namespace assay {
namespace {

constexpr double kPatternWork = 1 << 16;
constexpr double kSharedWork = 1 << 21;
constexpr double kTurnsWork = 1 << 23;  // most of it is what lies between rows
constexpr int kTries = 16;
constexpr std::int64_t kLeastRow = 32;    // half of one is a vector
constexpr std::int64_t kDrawnRow = 1024;  // no draw of little work has longer ones

// Whether an input has too few rows, or too short ones, for a pattern of sixteen numbers.
bool too_short(const Op& op, const Params& params) {
  return std::ranges::any_of(signature_of(op, params).tensors, [](const TensorSpec& spec) {
    if (spec.role == Direction::out || spec.shape.size() < 2 || is_block(spec.dtype)) return false;
    return spec.shape.back() < kLeastRow || spec.elements() < 2 * spec.shape.back();
  });
}

// The draw whose inputs have most rows, up to three, that are as long; of an op whose rows cost much one that costs more.
TestCase long_case(const Op& op, std::int64_t length) {
  Params best = length > kDrawnRow ? with_long_rows(op, length, 2 * kSharedWork) : Params{};
  if (!best.values().empty()) return drawn_case(op, std::move(best), "gauss", kPatternSeed);
  for (double work = kPatternWork; work <= kSharedWork && (best.values().empty() || too_short(op, best)); work *= 8) {
    Draws draws(kPatternSeed);
    best = most_rows_of(op, draws, kTries, {.rows = 3, .length = length, .work = work});
  }
  return drawn_case(op, std::move(best), "gauss", kPatternSeed);
}

bool may_share(const Op& op, const Params& params, std::size_t one, std::size_t other) {
  if (work_of(op, params) > kSharedWork) return false;
  const std::vector<TensorSpec> specs = signature_of(op, params).tensors;
  if (other >= specs.size() || specs[one].role == Direction::out || specs[other].role == Direction::out) return false;
  const auto data = [](const TensorSpec& spec) { return spec.data ? spec.data->name : ""; };
  return data(specs[one]) == data(specs[other]) && can_share(specs[one], specs[other]);
}

// Every size alike, and each of them small in turn.
std::vector<Params> squares(const Op& op, std::int64_t square) {
  std::vector<Params> all{square_params(op, "", square)};
  for (const Size& size : op.family->shapes(op).sizes) all.push_back(square_params(op, size.name, square));
  return all;
}

// Inputs `one` and `other` hold the same, and lie in one memory (harness/verdict/placements.h).
std::optional<TestCase> shared_case(const Op& op, std::size_t one, std::size_t other) {
  Draws draws(kPatternSeed);
  std::vector<Params> tries{draw_params(op, op.family->shapes(op), draws, kPatternWork)};
  for (const std::int64_t square : {3 * kSquares[0], kSquares[1], kSquares[0]})
    std::ranges::move(squares(op, square), std::back_inserter(tries));
  const auto fits = std::ranges::find_if(tries, [&](const Params& params) { return may_share(op, params, one, other); });
  if (fits == tries.end()) return std::nullopt;
  TestCase test = drawn_case(op, *fits, "gauss", kPatternSeed);
  test.inputs[other].bytes = test.inputs[one].bytes;
  const std::vector<TensorSpec> specs = signature_of(op, *fits).tensors;
  return named(op, std::move(test), fmt::format("{} is {}", specs[other].name, specs[one].name));
}

// Whose rows have room between them for as long ones: every row (0); where heads lie within rows, as a cache's of [position, head], every
// head (1), and all heads of a row, which lie without gaps (2), queries' too, as in a fused projection (3).
void leave_room(const ShapeSpace& space, int where, Params& params) {
  for (const Size& size : space.sizes) {
    if (size.stride_of == nullptr) continue;
    const std::int64_t dense = dense_stride(size, params);
    const bool of_rows = std::string_view(size.name).find("row") != std::string_view::npos;
    if (where == 3) params.set(size.name, (of_rows ? 2 * kSquares[0] : 1) * dense);
    if (where == 3 || (size.without == nullptr) != (where == 0)) continue;
    params.set(size.name, where == 2 ? dense : 2 * dense);
    if (where == 2) params.set(size.without, 2 * kSquares[0] * dense);
  }
}

// `other` may begin in the midst of the rows of `one`, as values do in the rows of a latent cache's keys; none: too little room.
std::optional<TestCase> overlapped(const Op& op, TestCase test, std::size_t one, std::size_t other) {
  if (other >= test.inputs.size()) return std::nullopt;
  const std::vector<TensorSpec> specs = signature_of(op, test.params).tensors;
  const std::int64_t row = row_length(test.inputs[one]);
  const std::size_t behind = static_cast<std::size_t>(row / 2) * dtype_size(specs[one].dtype);
  const std::size_t bytes = static_cast<std::size_t>(row) * dtype_size(specs[one].dtype);
  if (test.inputs[other].bytes.size() != test.inputs[one].bytes.size()) return std::nullopt;
  for (std::size_t at = 0; at < test.inputs[one].bytes.size(); at += bytes)
    std::copy_n(&test.inputs[one].bytes[at + behind], bytes - behind, &test.inputs[other].bytes[at]);
  if (!overlap_of(specs[one], test.inputs[one], specs[other], test.inputs[other])) return std::nullopt;
  return named(op, std::move(test), fmt::format("{} begins in the rows of {}", specs[other].name, specs[one].name));
}

// The rows of two tensors take turns in one memory, as keys and values may in a cache's, or overlap where they hold the same.
void add_turns(const Op& op, std::vector<TestCase>& cases) {
  const ShapeSpace space = op.family->shapes(op);
  for (const int where : {0, 1, 2, 3}) {
    std::set<std::string> named_before;
    for (Params params : squares(op, kSquares[0])) {
      leave_room(space, where, params);
      if (work_of(op, params) > kTurnsWork) continue;
      const std::vector<TensorSpec> specs = signature_of(op, params).tensors;
      for (std::size_t other = 0; other < specs.size(); ++other) {
        for (std::size_t one = 0; one < other; ++one) {
          if (!turn_of(specs[one], specs[other])) continue;
          const std::string what = fmt::format("rows of {} between those of {}", specs[other].name, specs[one].name);
          if (!named_before.insert(what).second) continue;
          TestCase test = drawn_case(op, params, "gauss", kPatternSeed);
          if (auto second = overlapped(op, test, one, other)) cases.push_back(std::move(*second));
          cases.push_back(named(op, std::move(test), what));
        }
      }
    }
  }
}

// Of an op that tells which of equal numbers it took: the largest as the first, the last, and between, farther apart than 16 bits reach.
std::optional<TestCase> far_ties(const Op& op) {
  const ShapeSpace space = op.family->shapes(op);
  if (op.to != DType::i32 || space.sizes.size() != 1) return std::nullopt;
  const Size& size = space.sizes.front();
  TestCase test = drawn_case(op, {{size.name, values_in_use(size.in_use).back()}}, "gauss", kPatternSeed);
  Array& row = test.inputs.front();
  for (const std::int64_t i : {std::int64_t{0}, row.elements() / 2 + 1, row.elements() - 1}) put(row, i, SpecialNumber::largest);
  return named(op, std::move(test), "equal maxima far apart");
}

// One behind the other, of the same sizes and data, with other real parameters: what is kept by sizes shows in the second.
void add_twins(const Op& op, std::vector<TestCase>& cases) {
  const Params params = square_params(op, "");
  Params other = params;
  for (const auto& [name, value] : params.values()) {
    if (const double* const real = std::get_if<double>(&value)) other.set(name, 2 * *real);
  }
  if (other.values() == params.values()) return;
  for (const Params& one : {params, other})
    cases.push_back(named(op, drawn_case(op, one, "gauss", kPatternSeed), "one of twins"));
}

}  // namespace

Params square_params(const Op& op, std::string_view but, std::int64_t square) {
  return sized(op.family->shapes(op),
               [&](const Size& size) { return size.name == but ? size.unit : std::min(in_units(square, size), size.limit); });
}

TestCase named(const Op& op, TestCase test, const std::string& what) {
  test.status = status_for(op, test.params, signature_of(op, test.params), test.inputs);
  test.name = fmt::format("{}, {}", what, test.params.to_string());
  test.repro = "--case values";
  return test;
}

std::vector<TestCase> pattern_cases(const Op& op) {
  std::vector<TestCase> cases;
  for (const RowPattern& pattern : row_patterns()) {
    const TestCase tame = long_case(op, pattern.length);
    TestCase test = tame;
    const std::vector<TensorSpec> specs = signature_of(op, test.params).tensors;  // inputs first
    for (std::size_t i = 0; i < test.inputs.size(); ++i) pattern.put(specs[i], test.inputs[i], i);
    const auto same = [&](std::size_t i) { return test.inputs[i].bytes == tame.inputs[i].bytes; };
    std::size_t unchanged = 0;
    while (unchanged < test.inputs.size() && same(unchanged)) ++unchanged;
    if (unchanged < test.inputs.size()) cases.push_back(named(op, std::move(test), pattern.what));
  }
  const std::vector<TensorSpec> specs = signature_of(op, square_params(op, "")).tensors;
  for (std::size_t other = 0; other < specs.size(); ++other) {
    for (std::size_t one = 0; one < other; ++one) {
      if (auto test = shared_case(op, one, other)) cases.push_back(std::move(*test));
    }
  }
  add_turns(op, cases);
  add_twins(op, cases);
  std::ranges::move(attention_patterns(op), std::back_inserter(cases));
  if (auto test = far_ties(op)) cases.push_back(std::move(*test));
  return cases;
}

}  // namespace assay
