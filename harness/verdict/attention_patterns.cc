// Patterns of what attention is given: keys whose scores are -inf or NaN, spans of them without weight.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/verdict/draw.h"
#include "harness/verdict/drawn_case.h"
#include "harness/verdict/patterns.h"
#include "harness/verdict/row_patterns.h"

namespace assay {
namespace {

constexpr std::int64_t kBlock = 16;
constexpr std::int64_t kFewKeys = 40;

void put_first_of_rows(Array& array, SpecialNumber number) {
  for (std::int64_t i = 0; i < array.elements(); i += row_length(array)) put(array, i, number);
}

// A call of a whole span of keys, 1,024, and a part of the next, in which each query's first number is 1.
std::optional<TestCase> spans_case(const Op& op) {
  const ShapeSpace space = op.family->shapes(op);
  const auto keys = std::ranges::find_if(space.sizes, [](const Size& size) {
    return std::ranges::find(size.borders, std::string_view("kKeySpan"), &Border::constant) != size.borders.end();
  });
  if (keys == space.sizes.end()) return std::nullopt;
  Params params = square_params(op, "");
  for (const auto& [name, value] : {std::pair("n_kv", 3), {"group", 2}, {"rows", 9}}) {  // a vector of queries, and two
    if (params.has(name)) params.set(name, std::int64_t{value});
  }
  const std::int64_t span = std::ranges::find(keys->borders, std::string_view("kKeySpan"), &Border::constant)->at();
  params.set(keys->name, span + 3 * kBlock - 8);
  TestCase test = drawn_case(op, std::move(params), "gauss", kPatternSeed);
  put_first_of_rows(test.inputs[0], SpecialNumber::one);
  return test;
}

// Less than other scores by so much that its weight is 0; f16's largest, of which sums in f32 have room.
void put_outweighed(Array& keys, std::int64_t i) {
  constexpr float kLeast = -65504;
  if (keys.dtype != DType::f32) return put(keys, i, SpecialNumber::largest, true);
  std::memcpy(&keys.bytes[static_cast<std::size_t>(i) * sizeof kLeast], &kLeast, sizeof kLeast);
}

// Its keys and values, [head, position, width].
struct View {
  TestCase& test;
  std::int64_t width = row_length(test.inputs[0]);
  std::int64_t length = test.params.integer("length");
  std::int64_t span = length - 3 * kBlock + 8;

  void score(std::int64_t head, std::int64_t key, SpecialNumber number, bool negative = false) {
    put(test.inputs[1], (head * length + key) * width, number, negative);
  }
  void outweigh(std::int64_t head, std::int64_t key) { put_outweighed(test.inputs[1], (head * length + key) * width); }
  void value(std::int64_t head, std::int64_t key, SpecialNumber number) {
    put(test.inputs[2], (head * length + key) * width + 1, number);
  }
};

// The first block behind a span for one head, the whole first span for the next, all behind it for the third.
void add_masked_spans(const Op& op, TestCase test, std::vector<TestCase>& cases) {
  View view{test};
  const std::pair<std::int64_t, std::int64_t> masked[] = {
      {view.span, view.span + kBlock}, {0, view.span}, {view.span, view.length}};
  for (std::int64_t head = 0; head < std::ssize(masked); ++head) {
    for (std::int64_t key = masked[head].first; key < masked[head].second; ++key)
      view.score(head, key, SpecialNumber::infinity, true);
  }
  cases.push_back(named(op, std::move(test), "keys of -inf"));
}

// Of each head one key, or its value, in the first span, in the second and as the last.
template <bool kValue>
void add_one_key(const Op& op, TestCase test, std::vector<TestCase>& cases) {
  View view{test};
  const std::int64_t keys[] = {kBlock + 1, view.span + 3, view.length - 1};
  for (std::int64_t head = 0; head < std::ssize(keys); ++head) {
    if (kValue) view.value(head, keys[head], SpecialNumber::infinity);
    if (!kValue) view.score(head, keys[head], SpecialNumber::quiet_nan);
  }
  cases.push_back(named(op, std::move(test), kValue ? "one infinite value" : "one key of NaN"));
}

// Scores before a key, or from there on, are less than others by so much that their weights are 0; a value there is infinite.
void add_outweighed(const Op& op, TestCase test, std::vector<TestCase>& cases) {
  View view{test};
  const std::pair<std::int64_t, std::int64_t> outweighed[] = {{0, view.span}, {view.span, view.length}, {0, kBlock}};
  for (std::int64_t head = 0; head < std::ssize(outweighed); ++head) {
    const auto [first, end] = outweighed[head];
    for (std::int64_t key = first; key < end; ++key) view.outweigh(head, key);
    view.value(head, first + 3, SpecialNumber::infinity);
  }
  cases.push_back(named(op, std::move(test), "spans without weight"));
}

// Values that are infinite, of keys whose weights underflow to 0; of so many query heads to a kv head.
TestCase weightless_values(const Op& op, std::int64_t group) {
  Params params = square_params(op, "");
  params.set("length", kFewKeys);
  params.set("group", group);
  TestCase test = drawn_case(op, std::move(params), "gauss", kPatternSeed);
  put_first_of_rows(test.inputs[0], SpecialNumber::one);
  View view{test};
  for (const std::int64_t key : {3, 17}) {
    view.outweigh(0, key);
    view.value(0, key, SpecialNumber::infinity);
  }
  return named(op, std::move(test), "infinite values without weight");
}

// One query head of a group has such numbers that its scores overflow to -inf at a key and in a whole block, which other heads heed; the key's
// value is infinite.
TestCase overflown_scores(const Op& op, std::int64_t which) {
  constexpr std::int64_t kKey = 3;
  Params params = square_params(op, "");
  params.set("n_kv", std::int64_t{2});
  if (params.has("rows")) params.set("rows", std::int64_t{3});
  params.set("length", kFewKeys);
  const std::int64_t group = params.integer("group");
  TestCase test = drawn_case(op, std::move(params), "gauss", kPatternSeed);
  View view{test};
  for (std::int64_t head = 0; head * view.width < test.inputs[0].elements(); ++head)
    put(test.inputs[0], head * view.width, head % group == which ? SpecialNumber::largest : SpecialNumber::zero);
  put_first_of_rows(test.inputs[1], SpecialNumber::zero);
  view.outweigh(0, kKey);
  for (std::int64_t key = kBlock; key < 2 * kBlock; ++key) view.outweigh(0, key);
  view.value(0, kKey, SpecialNumber::infinity);
  return named(op, std::move(test), fmt::format("scores of head {} overflow", which));
}

}  // namespace

std::vector<TestCase> attention_patterns(const Op& op) {
  if (std::string_view(op.family->name) != "attention") return {};
  std::vector<TestCase> cases;
  if (const std::optional<TestCase> test = spans_case(op)) {
    for (auto* add : {add_masked_spans, add_one_key<false>, add_one_key<true>, add_outweighed}) add(op, *test, cases);
  }
  for (const std::int64_t group : {std::int64_t{1}, kSquares[0]}) cases.push_back(weightless_values(op, group));
  for (const std::int64_t head : {std::int64_t{0}, std::int64_t{1}, kSquares[0] - 1}) cases.push_back(overflown_scores(op, head));
  return cases;
}

}  // namespace assay
