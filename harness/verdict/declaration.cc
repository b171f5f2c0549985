#include "harness/verdict/declaration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <iterator>
#include <stdexcept>

#include "harness/verdict/nearest.h"

namespace assay {
namespace {

using reference::Arithmetic;
using reference::Order;

constexpr double kLeastUlps = 0.5;  // of a correctly rounded result
constexpr double kMostUlps = 65536;
constexpr std::int64_t kMostLanes = 1024;  // an order of more could not be told from any other in a call of a usual length

template <class Rows>
std::string names_of(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}
std::string number_names() {
  return names_of(reference::kNumbers);
}
std::string operand_names() {
  return names_of(reference::operands());
}
std::string ulp_range() {
  return fmt::format("{} to {} ulp of f32", kLeastUlps, kMostUlps);
}

template <auto kMember>
bool set_operand(const std::string& value, Arithmetic& how) {
  return (how.*kMember = reference::find_operand(value)) != nullptr;
}

template <auto kMember>
bool set_number(const std::string& value, Arithmetic& how) {
  return (how.*kMember = reference::find_number(value)) != nullptr;
}

bool set_sums(const std::string& value, Arithmetic& how) {
  how.integer_sums = value == "i32";
  return how.integer_sums || set_number<&Arithmetic::acc>(value, how);
}

template <auto kMember>
bool set_ulps(const std::string& value, Arithmetic& how) {
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, how.*kMember, std::chars_format::fixed);
  return read.ec == std::errc() && read.ptr == end && how.*kMember >= kLeastUlps && how.*kMember <= kMostUlps;
}

bool set_order(const std::string& value, Arithmetic& how) {
  static constexpr struct {
    std::string_view name;
    Order::Kind kind;
    bool counts;
  } kKinds[] = {{"canonical", Order::Kind::canonical, false}, {"free", Order::Kind::free, false},
                {"lanes:", Order::Kind::lanes, true},         {"blocks:", Order::Kind::blocks, true},
                {"tree:", Order::Kind::tree, true},           {"tree", Order::Kind::tree, false}};
  for (const auto& [name, kind, counts] : kKinds) {
    if (!value.starts_with(name)) continue;
    how.order = {kind, 1};
    const char* const end = value.data() + value.size();
    if (!counts) return value.size() == name.size();
    const auto read = std::from_chars(value.data() + name.size(), end, how.order.count);
    return read.ec == std::errc() && read.ptr == end && how.order.count >= 1 && how.order.count <= kMostLanes;
  }
  return false;
}

bool set_flush(const std::string& value, Arithmetic& how) {
  how.flush = value == "yes";
  return how.flush;
}

// What a kernel may say, what of it the op must have, and what it sets: operands are rounded before the truth is taken, the rest are terms
// of the bound (docs/numerics.md, "Declared arithmetic").
struct Word {
  std::string_view name;
  std::uint32_t needs;
  std::string (*values)();
  bool (*set)(const std::string& value, Arithmetic& how);
};

constexpr Word kWords[] = {
    {"x", kActivations, operand_names, set_operand<&Arithmetic::x>},
    {"w", kWeights, operand_names, set_operand<&Arithmetic::w>},
    {"products", kProducts, number_names, set_number<&Arithmetic::products>},
    {"acc", kSums, [] { return number_names() + ", i32"; }, set_sums},
    {"order", kLanes, [] { return fmt::format("canonical, free, lanes:N, blocks:N, tree, tree:N, N from 1 to {}", kMostLanes); },
     set_order},
    {"exp", kExponential, ulp_range, set_ulps<&Arithmetic::exp>},
    {"rsqrt", kRoot, ulp_range, set_ulps<&Arithmetic::rsqrt>},
    {"flush", kResults, [] { return std::string("yes"); }, set_flush},
    {"out", kResults, number_names, set_number<&Arithmetic::out>},
};

[[noreturn]] void refuse(const std::string& word, const std::string& value, const std::string& expected) {
  throw std::invalid_argument(fmt::format("{} is '{}'; expected {}, or that the key is left out", word, value, expected));
}

const Word& known_word(const std::string& name) {
  for (const Word& row : kWords) {
    if (row.name == name) return row;
  }
  std::vector<std::string> known;
  for (const TraitRow& row : kTraits) known.emplace_back(row.key);
  for (const Word& row : kWords) known.emplace_back(row.name);
  if (is_near(name, nearest(name, known))) throw std::invalid_argument(unknown_name("key", name, known));
  throw std::invalid_argument(fmt::format("unknown key '{}'; expected {}", name, fmt::join(known, ", ")));
}

void require_meaning(const Op& op, const std::map<std::string, std::string>& words, const Arithmetic& how) {
  const std::uint32_t has = op.family->declarable(op, how);
  for (const auto& [name, value] : words) {
    if ((known_word(name).needs & has) != 0) continue;
    throw std::invalid_argument(
        fmt::format("{} has no use for '{}' here; it has one for: {}", op.name, name,
                    has == 0 ? "none, its results are exact" : fmt::format("{}", fmt::join(words_of(op, how), ", "))));
  }
  const bool deep = how.order.kind == Order::Kind::blocks || how.order.kind == Order::Kind::tree;
  if (deep && (has & kTrees) == 0) refuse("order", words.at("order"), "canonical, free or lanes:N");
  const auto* const codes = reference::find_operand("i8_row");
  if (how.integer_sums && ((has & kIntegerSums) == 0 || how.x != codes || how.w != codes))
    refuse("acc", words.at("acc"), (has & kIntegerSums) == 0 ? number_names() : "x=i8_row and w=i8_row beside it");
}

}  // namespace

std::vector<std::string> words_of(const Op& op, const Arithmetic& how) {
  std::vector<std::string> names;
  for (const Word& row : kWords) {
    if ((row.needs & op.family->declarable(op, how)) != 0) names.emplace_back(row.name);
  }
  return names;
}

Arithmetic arithmetic_of(const Op& op, const std::map<std::string, std::string>& words) {
  Arithmetic how;
  for (const auto& [name, value] : words) {
    const Word& word = known_word(name);
    if (!word.set(value, how)) refuse(name, value, word.values());
  }
  require_meaning(op, words, how);
  return how;
}

Traits declared_also(const Op& op, bool canonical, const Traits& own, const std::string& words) {
  if (words.empty()) return own;
  try {
    Traits both = own.with(Traits::parse(words.c_str()));
    both.require_claim(canonical);
    arithmetic_of(op, both.words());
    return both;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("declared '{}': {}", words, error.what()));
  }
}

}  // namespace assay
