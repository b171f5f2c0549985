// The parts of a suite, each of one op, which may be run in any process, in any order.
#pragma once

#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "harness/verdict/suite.h"
#include "harness/verdict/trials.h"

namespace assay {

// Where an op's cases come from, as `--case` names them but for the first and the last. From shapes on they need most of the time.
enum class Kind : std::uint8_t { golden, bias, refusals, kept, shapes, values, vast, order, random, generated };
const char* kind_name(Kind kind);
// Those that a request has beside goldens, in the suite's order.
std::vector<Kind> own_kinds(const CheckRequest& request);

// The cases that a golden file has of an op.
struct GoldenList {
  std::filesystem::path path;
  bool known;  // one of the project's own, as the manifest has it
  std::vector<std::string> cases;
};

// What the units of one suite share. It outlives them.
struct SuitePlan {
  explicit SuitePlan(const CheckRequest& request);

  const CheckRequest& request;
  Ledger ledger;
  std::map<const Op*, std::vector<GoldenList>> golden;
};

struct Unit {
  const Op* op;
  std::vector<Kind> kinds;
  bool first;             // the op's kernels have not been called in the process that runs it
  std::int64_t dealt;     // where dealing to shards begins
  std::int64_t from = 0;  // of the cases that are made one a seed: those from here on
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
};

// The whole suite, in its order. Units of an op are run in order by whoever runs several of them: the first is the first that calls its
// kernels.
std::vector<Unit> units_of(const SuitePlan& plan, Trials& trials);

struct UnitResult {
  std::vector<std::string> known;  // the cases that were asked for, those of other shards too
  std::vector<CaseResult> cases;
  std::vector<std::string> shapes;  // names that --case may have
  std::set<std::string> tags;
  std::map<std::string, TraitRecord> traits;  // by variant, where another process ran it
  bool done = false;
};

// Told how many results are to come, as that is found, and each of them: it may still fail late, and is then another at the end.
struct UnitWatch {
  std::function<void(std::int64_t)> planned;
  std::function<void(const CaseResult&)> done;
  std::function<bool()> stop;
};

UnitResult run_unit(const SuitePlan& plan, const Unit& unit, Trials& trials, const UnitWatch& watch);

// What a unit that is stopped throws.
struct Stopped {};

}  // namespace assay
