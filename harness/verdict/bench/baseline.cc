#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "golden/read_file.h"
#include "harness/verdict/bench/bench_report.h"

namespace assay::bench {
namespace {

double seconds_of(const nlohmann::json& entry) {
  const std::string unit = entry.value("time_unit", "ns");
  const double time = entry.at("real_time").get<double>();
  if (unit == "ns") return 1e-9 * time;
  if (unit == "us") return 1e-6 * time;
  if (unit == "ms") return 1e-3 * time;
  if (unit == "s") return time;
  throw std::runtime_error("time_unit \"" + unit + "\" is none of ns, us, ms, s");
}

std::optional<double> share_of(const nlohmann::json& entry, const char* key) {
  if (!entry.contains(key)) return std::nullopt;
  return entry.at(key).get<double>() / 100;
}

// Google Benchmark appends "/iterations:1/manual_time" to the name it was given.
std::string plain_name(const std::string& name) {
  return name.substr(0, name.find("/iterations:"));
}

// The roof that binds the kernel now is the one to compare by, if the baseline has it too.
Change change_of(const BaselineEntry& then, const BenchResult& now) {
  Change change{now.name, then.seconds, now.seconds, then.seconds / now.seconds, false};
  const bool by_read = now.read && then.read_share;
  const bool by_compute = now.compute && then.compute_share;
  if (by_read && (!by_compute || now.read->share >= now.compute->share)) {
    change.speed = now.read->share / *then.read_share;
    change.from_roof = true;
  } else if (by_compute) {
    change.speed = now.compute->share / *then.compute_share;
    change.from_roof = true;
  }
  return change;
}

}  // namespace

Baseline load_baseline(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) {
    return std::runtime_error(file.string() + ": " + why + "; expected what `assay bench --json` or --benchmark_out writes");
  };
  const std::string text = read_file(file);
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    Baseline baseline;
    if (json.contains("context")) baseline.cpu = json.at("context").value("cpu", "");
    for (const nlohmann::json& entry : json.at("benchmarks")) {
      if (entry.value("error_occurred", false) || entry.value("run_type", "iteration") != "iteration") continue;
      baseline.entries[plain_name(entry.at("name").get<std::string>())] = {seconds_of(entry), share_of(entry, "read_percent"),
                                                                           share_of(entry, "compute_percent")};
    }
    return baseline;
  } catch (const std::exception& error) {
    throw fail(error.what());
  }
}

bool Changes::slower() const {
  for (const Change& change : changes) {
    if (change.slower()) return true;
  }
  return false;
}

Changes compare(const Baseline& baseline, const std::vector<BenchResult>& results) {
  Changes comparison;
  std::map<std::string, BaselineEntry> left = baseline.entries;
  for (const BenchResult& now : results) {
    if (!now.timed()) continue;
    const auto then = left.find(now.name);
    if (then == left.end()) {
      comparison.only_now.push_back(now.name);
      continue;
    }
    comparison.changes.push_back(change_of(then->second, now));
    left.erase(then);
  }
  for (const auto& [name, entry] : left) comparison.only_then.push_back(name);
  return comparison;
}

std::string comparison_table(const Changes& comparison, const Style& style) {
  Table table({"benchmark", ">then us", ">now us", ">speed", "by", "verdict"});
  for (const Change& change : comparison.changes) {
    std::string verdict = "same";
    if (change.slower()) verdict = style.bad("SLOWER");
    if (change.faster()) verdict = style.good("faster");
    table.add({change.name, fmt::format("{:.1f}", 1e6 * change.seconds_then), fmt::format("{:.1f}", 1e6 * change.seconds_now),
               fmt::format("{:+.1f} %", 100 * (change.speed - 1)), change.from_roof ? "share of the roof" : "time", verdict});
  }
  std::string out = table.render(style);
  for (const std::string& name : comparison.only_now) out += style.warn("not in the baseline") + " " + name + "\n";
  for (const std::string& name : comparison.only_then) out += style.warn("only in the baseline") + " " + name + "\n";
  if (comparison.changes.empty()) out += style.bad("nothing to compare") + "\n";
  return out;
}

nlohmann::ordered_json comparison_json(const Changes& comparison) {
  nlohmann::ordered_json json{{"slower", comparison.slower()}, {"changes", nlohmann::ordered_json::array()}};
  for (const Change& change : comparison.changes) {
    json["changes"].push_back({{"name", change.name},
                               {"then_ns", 1e9 * change.seconds_then},
                               {"now_ns", 1e9 * change.seconds_now},
                               {"speed", change.speed},
                               {"by", change.from_roof ? "roof" : "time"},
                               {"verdict", change.slower()   ? "slower"
                                           : change.faster() ? "faster"
                                                             : "same"}});
  }
  json["only_now"] = comparison.only_now;
  json["only_then"] = comparison.only_then;
  return json;
}

}  // namespace assay::bench
