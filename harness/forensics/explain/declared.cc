// Arithmetic that a kernel may declare: operands rounded first, sums in another format or order, an exponential less exact.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <map>
#include <span>
#include <stdexcept>

#include "harness/forensics/explain/hypothesis.h"
#include "harness/verdict/declaration.h"

namespace assay::why {
namespace {

// Said and values to try, in groups: at most one of each is said. What rounds operands leaves the bound as tight as it was; the rest widen it, and
// come after all that does not. Of these each costs as much, but `order=free`, which holds whatever another order does.
struct Word {
  const char* word;
  const char* value;
  int cost;
};
constexpr Word kActivationWords[] = {{"x", "f16", 2}, {"x", "bf16", 2}, {"x", "q8_0", 2}, {"x", "q8_k", 2}, {"x", "i8_row", 2}};
constexpr Word kWeightWords[] = {{"w", "f16", 2}, {"w", "bf16", 2}, {"w", "q8_0", 2}, {"w", "i8_row", 2}};
constexpr Word kSumWords[] = {{"acc", "f16", 8}, {"acc", "bf16", 8}};
constexpr Word kOrderWords[] = {{"order", "lanes:4", 8},  {"order", "lanes:8", 8},  {"order", "lanes:16", 8},
                                {"order", "lanes:32", 8}, {"order", "lanes:64", 8}, {"order", "tree", 8},
                                {"order", "free", 9}};
constexpr Word kOtherWords[] = {{"exp", "1.46", 8}, {"exp", "4", 8},        {"exp", "64", 8},       {"exp", "6144", 8},
                                {"rsqrt", "2", 8},  {"rsqrt", "6144", 8},   {"flush", "yes", 8},    {"out", "f16", 8},
                                {"out", "bf16", 8}, {"products", "f16", 8}, {"products", "bf16", 8}};

using Said = std::vector<const Word*>;

// Results that are rounded to a type are numbers of it.
std::optional<Prediction> declared_on(const Op& op, const reference::Arithmetic& how, const Evidence& one) {
  auto said = reference_of(op, one.params, one.call->inputs, one, how);
  for (std::size_t o = 0; said && how.out != nullptr && o < said->outputs.size(); ++o) {
    reference::Expected& out = said->outputs[o];
    for (std::size_t i = 0; i < out.value.size(); ++i) {
      const double got = one.call->outputs[o].number(static_cast<std::int64_t>(i));
      if (out.bound[i] > 0 && std::isfinite(got) && how.out->round(got) != got) out.value[i] = NAN;
    }
  }
  return said;
}

void add_words(const Op& op, const Said& words, Hypotheses& all) {
  std::map<std::string, std::string> said;
  int cost = 0;
  bool widens = false;
  for (const Word* one : words) {
    said[one->word] = one->value;
    cost += one->cost;
    widens = widens || one->cost > 2;
  }
  reference::Arithmetic how;
  try {
    how = arithmetic_of(op, said);
  } catch (const std::invalid_argument&) {  // the op has no use for it
    return;
  }
  std::vector<std::string> parts;
  for (const auto& [word, value] : said) parts.push_back(word + "=" + value);
  const std::string properties = fmt::format("{};", fmt::join(parts, ";"));
  all.push_back({properties, "declared", fmt::format("it computes as \"{}\" declares", properties), Law::rounding, cost,
                 [&op, how](const Evidence& one) { return declared_on(op, how, one); }, Says::what, properties, widens});
}

template <class Groups>
void combine(const Op& op, const Groups& groups, std::size_t next, Said& words, std::size_t most, Hypotheses& all) {
  if (!words.empty()) add_words(op, words, all);
  if (words.size() == most) return;
  for (std::size_t g = next; g < groups.size(); ++g) {
    for (const Word& one : groups[g]) {
      words.push_back(&one);
      combine(op, groups, g + 1, words, most, all);
      words.pop_back();
    }
  }
}

}  // namespace

void add_declared(const Op& op, Cases /*cases*/, Hypotheses& all) {
  if (op.family->declarable(op, {}) == 0) return;
  const std::array<std::span<const Word>, 5> groups{kActivationWords, kWeightWords, kSumWords, kOrderWords, kOtherWords};
  Said words;
  combine(op, groups, 0, words, 3, all);
}

}  // namespace assay::why
