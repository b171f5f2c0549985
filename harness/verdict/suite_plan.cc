// What a request comes to: golden files, and units of work.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "golden/manifest.h"
#include "harness/verdict/order_case.h"
#include "harness/verdict/shell.h"
#include "harness/verdict/suite_unit.h"

namespace assay {
namespace {

using Kinds = std::vector<Kind>;

bool wanted(const CheckRequest& request, const std::string& op) {
  const bool named = request.ops.empty() || std::ranges::find(request.ops, op) != request.ops.end();
  return named && (request.only.empty() || request.only.contains(op));
}

// The op's own cases of a kind go with the ops that were asked for, unless only other cases were.
bool asked(const CheckRequest& request, Kind kind, const Op& op) {
  const std::string& name = request.case_name;
  const bool named =
      name.empty() || matches(name, kind_name(kind)) || (kind == Kind::shapes && name.find('=') != std::string::npos);
  return named && request.tag.empty() && (request.file.empty() || request.file.stem() == op.name);
}

// The cases that are made one a seed, some to a unit: each can be made without the others.
void add_slices(std::vector<Unit>& units, const Unit& whole, std::int64_t cases) {
  constexpr std::int64_t kSlice = 16;
  for (std::int64_t from = 0; from < cases; from += kSlice) {
    Unit& unit = units.emplace_back(whole);
    unit.first = whole.first && from == 0;
    unit.dealt = whole.dealt + from;
    unit.from = from;
    unit.to = std::min(from + kSlice, cases);
  }
}

bool has_golden(const SuitePlan& plan, const Op& op) {
  const auto lists = plan.golden.find(&op);
  return lists != plan.golden.end() && std::ranges::any_of(lists->second, [&](const GoldenList& list) {
           return std::ranges::any_of(list.cases, [&](const std::string& one) { return plan.request.wants_case(one); });
         });
}

// Which of an op's units would be the first with a case is not known before they run, but for goldens. Where those may have none, or
// cases are dealt to shards in turn, the op is one unit.
void add_units(std::vector<Unit>& units, const SuitePlan& plan, const Op& op, std::int64_t number) {
  const CheckRequest& request = plan.request;
  Unit unit{.op = &op, .kinds = {}, .first = true, .dealt = number};
  if (request.generated) {
    unit.kinds = {Kind::generated};
    return add_slices(units, unit, request.generated_cases);
  }
  const bool golden = has_golden(plan, op);
  const bool narrowed = !request.case_name.empty() || !request.tag.empty() || !request.only.empty() || request.shard.split();
  Kinds asked_for(golden ? 1 : 0, Kind::golden);
  for (const Kind kind : own_kinds(request)) {
    if (asked(request, kind, op)) asked_for.push_back(kind);
  }
  const bool apart = (golden && !narrowed) || asked_for == Kinds{Kind::random};
  const auto rest = std::ranges::find_if(asked_for, [&](Kind kind) { return apart && kind >= Kind::shapes; });
  unit.kinds.assign(asked_for.begin(), rest);
  unit.first = !unit.kinds.empty();
  if (unit.first) units.push_back(unit);
  unit.first = !unit.first;
  for (const Kind kind : Kinds(rest, asked_for.end())) {
    unit.kinds = {kind};
    kind == Kind::random ? add_slices(units, unit, request.random_cases) : units.push_back(unit);
  }
}

}  // namespace

const char* kind_name(Kind kind) {
  static constexpr std::array kNames{"golden", "bias", "refusals", "kept",   "shapes",
                                     "values", "vast", kOrder,     "random", "generated"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<Kind> own_kinds(const CheckRequest& request) {
  if (request.generated) return {};
  Kinds kinds{Kind::bias, Kind::refusals};
  if (request.shapes) kinds.insert(kinds.end(), {Kind::kept, Kind::shapes, Kind::values});
  if (request.shapes && !request.runner && request.callables.empty()) kinds.push_back(Kind::vast);
  if (request.shapes && request.strangers()) kinds.push_back(Kind::order);
  if (request.random_cases > 0) kinds.push_back(Kind::random);
  return kinds;
}

SuitePlan::SuitePlan(const CheckRequest& asked_for) : request(asked_for), ledger(ledger_path()) {
  if (request.generated) return;
  const bool own = request.golden.empty();
  const std::filesystem::path folder = own ? own_golden() : request.golden;
  const Manifest manifest(folder);
  for (const std::filesystem::path& path : request.file.empty() ? golden_files(folder) : std::vector{request.file}) {
    if (own && !wanted(request, path.stem().string())) continue;  // its name is its op's: nothing of it is read
    const bool known = manifest.verify(path) && own;
    const GoldenFile file(path, known ? Hdf5Origin::known : Hdf5Origin::stranger);
    const Op* op = find_op(file.op());
    if (op == nullptr) throw std::invalid_argument(path.string() + ": " + unknown_op(file.op()));
    if (wanted(request, op->name)) golden[op].push_back({path, known, file.case_names()});
  }
}

std::vector<Unit> units_of(const SuitePlan& plan, Trials& trials) {
  std::vector<Unit> units;
  std::int64_t number = 0;
  for (const Op* op : ops()) {
    ++number;
    if (wanted(plan.request, op->name) && !trials.of(*op).empty()) add_units(units, plan, *op, number);
  }
  return units;
}

}  // namespace assay
