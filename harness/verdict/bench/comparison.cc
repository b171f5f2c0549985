#include "harness/verdict/bench/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

namespace assay::bench {
namespace {

// The 0.99 quantiles of Student's t, by degrees of freedom from 1; beyond the table its last.
double quantile(double freedom) {
  static constexpr std::array kT{31.821, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821, 2.764,
                                 2.718,  2.681, 2.650, 2.624, 2.602, 2.583, 2.567, 2.552, 2.539, 2.528,
                                 2.518,  2.508, 2.500, 2.492, 2.485, 2.479, 2.473, 2.467, 2.462, 2.457};
  return kT[std::clamp<std::size_t>(static_cast<std::size_t>(freedom), 1, kT.size()) - 1];
}

// The trimmed mean of the logarithms, and the variance of it, from what Winsorizing leaves (Yuen, 1974): a run beside a busy neighbour, or
// beside a roof that was read too low, moves neither. Few runs have none to spare.
struct Mean {
  double value = 0;
  double variance = 0;
  std::size_t count = 0;  // of those that are left
};
Mean mean_of(std::vector<double> logs) {
  constexpr std::size_t kTrimmed = 5;  // a fifth at each end
  std::ranges::sort(logs);
  const std::size_t cut = logs.size() < 2 * kTrimmed ? 0 : logs.size() / kTrimmed;
  const std::span<const double> kept(logs.data() + cut, logs.size() - 2 * cut);
  Mean mean{0, 0, kept.size()};
  const auto n = static_cast<double>(kept.size());
  for (const double one : kept) mean.value += one / n;
  double winsorized = 0;
  for (const double one : logs) winsorized += std::clamp(one, kept.front(), kept.back()) / static_cast<double>(logs.size());
  for (const double one : logs) {
    const double off = std::clamp(one, kept.front(), kept.back()) - winsorized;
    mean.variance += off * off / n / (n - 1);
  }
  return mean;
}

// Welch and Satterthwaite's; a side without spread counts as known exactly.
double freedom_of(const Mean& then, const Mean& now) {
  const double both = then.variance + now.variance;
  double sum = 0;
  for (const Mean& one : {then, now}) {
    if (one.count > 1) sum += one.variance * one.variance / static_cast<double>(one.count - 1);
  }
  return sum > 0 ? both * both / sum : 1e9;
}

// Two thirds of what is allowed: a mean beyond that is no witness for "same".
bool suspected(const Change& change, double allowed) {
  return change.speed < 1 - allowed * 2 / 3;
}

bool certainly_slower(const Change& change, double allowed) {
  return change.high > 0 && change.high < 1 - allowed;
}

Pace pace_of(const Change& change, double allowed) {
  if (certainly_slower(change, allowed)) return change.fastest < 1 - allowed ? Pace::slower : Pace::unclear;
  if (change.low > 1 + allowed) return Pace::faster;
  return settled(change, allowed) && (change.low >= 1 - allowed || change.high - change.low <= allowed) ? Pace::same
                                                                                                        : Pace::unclear;
}

// The largest but `but`.
double most(std::vector<double> logs, std::size_t but) {
  std::ranges::sort(logs, std::greater());
  return logs[std::min(but, logs.size() - 1)];
}

// Of all of now's runs so many may be as fast as then's fastest.
void judge(Change& change, const std::vector<double>& then, const std::vector<double>& now, double allowed, std::size_t lucky) {
  const Mean before = mean_of(then);
  const Mean after = mean_of(now);
  const bool in_turn = then.empty();
  change.speed = std::exp(after.value - before.value);
  if (!in_turn) change.fastest = std::exp(most(now, lucky) - most(then, 0));
  if (now.size() < kLeastRuns || (!in_turn && then.size() < kLeastRuns)) return;
  const double half = quantile(freedom_of(before, after)) * std::sqrt(before.variance + after.variance);
  change.low = change.speed * std::exp(-half);
  change.high = change.speed * std::exp(half);
  change.pace = pace_of(change, allowed);
  const double alone = in_turn ? 0 : quantile(static_cast<double>(before.count - 1)) * std::sqrt(before.variance);
  change.vague = change.pace == Pace::unclear && 2 * alone > allowed && then.size() < kMostRuns;
}

template <class Value>
std::vector<double> logs_of(const std::vector<Reading>& runs, const Value& value) {
  std::vector<double> logs;
  for (const Reading& run : runs) logs.push_back(std::log(value(run)));
  return logs;
}

double median_seconds(const std::vector<Reading>& runs) {
  std::vector<double> seconds;
  for (const Reading& run : runs) seconds.push_back(run.seconds);
  return median(seconds);
}

std::string_view pace_name(Pace pace) {
  switch (pace) {
    case Pace::same:
      return "same";
    case Pace::slower:
      return "slower";
    case Pace::faster:
      return "faster";
    case Pace::unclear:
      return "unclear";
    case Pace::unknown:
      return "unknown";
  }
  return "";
}

std::string pace_text(const Change& change, const Style& style) {
  switch (change.pace) {
    case Pace::same:
      return "same";
    case Pace::slower:
      return style.bad("SLOWER");
    case Pace::faster:
      return style.good("faster");
    case Pace::unclear:
      return style.warn(fmt::format(
          "unclear after {} runs{}", change.runs_now,
          change.vague ? fmt::format("; the baseline's {} vary: make it with --runs {}", change.runs_then, kMostRuns) : ""));
    case Pace::unknown:
      return fmt::format("no interval: {} and {} runs, expected {} or more", change.runs_then, change.runs_now, kLeastRuns);
  }
  return "";
}

std::string percent(double speed) {
  return fmt::format("{:+.1f} %", 100 * (speed - 1));
}

}  // namespace

// The roof that binds the kernel now is the one to compare by, if all runs have it. It is read with errors of its own, which a whole process may
// have alike and which may be larger than the kernel's. So the time counts too, where the share's mean does not speak against it.
Change change_of(const std::vector<Reading>& then, const BenchResult& now, double allowed) {
  Change change{.name = now.name, .seconds_then = median_seconds(then), .seconds_now = now.seconds};
  change.runs_then = then.size();
  change.runs_now = now.readings.size();
  const auto have = [&](auto share) { return std::ranges::all_of(then, share) && std::ranges::all_of(now.readings, share); };
  const bool by_read = have([](const Reading& run) { return run.read_share.has_value(); });
  const bool by_compute = have([](const Reading& run) { return run.compute_share.has_value(); });
  constexpr std::size_t kLucky = 2;  // runs beside which the roof was read too low
  const auto judged = [&](const char* by, std::size_t lucky, const auto& value) {
    Change one = change;
    one.by = by;
    judge(one, logs_of(then, value), logs_of(now.readings, value), allowed, lucky);
    return one;
  };
  Change time = judged("time", 0, [](const Reading& run) { return 1 / run.seconds; });
  if (!by_read && !by_compute) return time;
  Change share = by_read && (!by_compute || now.read->share >= now.compute->share)
                     ? judged("share of the read roof", kLucky, [](const Reading& run) { return *run.read_share; })
                     : judged("share of the peak", kLucky, [](const Reading& run) { return *run.compute_share; });
  if (share.pace == Pace::slower) return share;
  if (suspected(share, allowed)) {
    const bool both_suspected = share.pace == Pace::same && suspected(time, allowed);
    const bool clear = certainly_slower(time, allowed) && time.high - time.low <= allowed;
    return clear || both_suspected ? time : share;
  }
  const bool agrees = time.pace == Pace::same || (time.pace == Pace::faster && share.speed > 1 + allowed * 2 / 3);
  return share.pace == Pace::unclear && agrees ? time : share;
}

Change change_in_turn(const BenchResult& now, double allowed) {
  Change change{.name = now.name, .seconds_then = now.rival_seconds, .seconds_now = now.seconds, .by = "in turn"};
  change.runs_then = change.runs_now = now.readings.size();
  judge(change, {}, logs_of(now.readings, [](const Reading& run) { return run.speed; }), allowed, 0);
  return change;
}

bool settled(const Change& change, double allowed) {
  if (change.runs_now >= kMostRuns) return true;
  if (change.high == 0) return change.runs_now >= kLeastRuns;  // no interval, and the other side will not have one
  if (certainly_slower(change, allowed)) return change.fastest == 0;
  return change.low >= 1 - allowed || (change.high - change.low <= allowed && !suspected(change, allowed));
}

bool Changes::slower() const {
  return std::ranges::any_of(changes, [](const Change& one) { return one.pace == Pace::slower; });
}

Changes compare(const Baseline& baseline, const std::vector<BenchResult>& results, double allowed) {
  Changes comparison{allowed, {}, {}, {}};
  auto left = baseline.runs;
  for (const BenchResult& now : results) {
    if (!now.timed()) continue;
    const auto then = left.find(now.name);
    if (then == left.end()) {
      comparison.only_now.push_back(now.name);
      continue;
    }
    comparison.changes.push_back(change_of(then->second, now, allowed));
    left.erase(then);
  }
  for (const auto& [name, runs] : left) comparison.only_then.push_back(name);
  return comparison;
}

Changes compare_in_turn(const std::vector<BenchResult>& results, double allowed) {
  Changes comparison{allowed, {}, {}, {}};
  for (const BenchResult& now : results) {
    if (!now.timed()) continue;
    if (now.against_old) {
      comparison.changes.push_back(change_in_turn(now, allowed));
    } else {
      comparison.only_now.push_back(now.name);
    }
  }
  return comparison;
}

std::string comparison_table(const Changes& comparison, const Style& style) {
  Table table({"benchmark", ">then us", ">now us", ">speed", ">for certain between", "by", "verdict"});
  for (const Change& change : comparison.changes) {
    const std::string interval = change.pace == Pace::unknown ? "-" : percent(change.low) + " and " + percent(change.high);
    table.add({change.name, fmt::format("{:.1f}", 1e6 * change.seconds_then), fmt::format("{:.1f}", 1e6 * change.seconds_now),
               percent(change.speed), interval, change.by, pace_text(change, style)});
  }
  std::string out = comparison.changes.empty() ? "" : table.render(style);
  for (const std::string& name : comparison.only_now) out += style.warn("not in the baseline") + " " + name + "\n";
  for (const std::string& name : comparison.only_then) out += style.warn("only in the baseline") + " " + name + "\n";
  if (comparison.changes.empty()) out += style.bad("nothing to compare") + "\n";
  return out;
}

nlohmann::ordered_json comparison_json(const Changes& comparison) {
  nlohmann::ordered_json json{
      {"slower", comparison.slower()}, {"allowed", comparison.allowed}, {"changes", nlohmann::ordered_json::array()}};
  for (const Change& change : comparison.changes) {
    json["changes"].push_back({{"name", change.name},
                               {"then_ns", 1e9 * change.seconds_then},
                               {"now_ns", 1e9 * change.seconds_now},
                               {"speed", change.speed},
                               {"low", change.low},
                               {"high", change.high},
                               {"runs_then", change.runs_then},
                               {"runs_now", change.runs_now},
                               {"by", change.by},
                               {"verdict", pace_name(change.pace)}});
  }
  json["only_now"] = comparison.only_now;
  json["only_then"] = comparison.only_then;
  return json;
}

}  // namespace assay::bench
