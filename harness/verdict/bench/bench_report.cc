#include "harness/verdict/bench/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/reports/report.h"
#include "harness/verdict/suite.h"

namespace assay::bench {
namespace {

std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string share_cell(const std::optional<Rounds::Ratio>& ratio, const Style& style) {
  if (!ratio) return "-";
  const std::string text = fmt::format("{:.1f} %", 100 * ratio->share);
  return ratio->share > 1 ? style.warn(text + " ?") : text;
}

std::vector<std::string> row(const BenchResult& one, const Style& style) {
  const std::string temperature = one.temperature == Temperature::cold ? "cold" : "warm";
  const std::string label = variant_label(one.op, one.variant);
  if (!one.timed()) return {label, one.shape, temperature, one.failure.empty() ? "-" : "FAIL", "-", "-", "-", "-", "-"};
  return {label,
          one.shape,
          temperature,
          time_text(one.seconds),
          fmt::format("{:.1f}", 1e-9 * one.cost.bytes / one.seconds),
          one.cost.operations() > 0 ? fmt::format("{:.1f}", 1e-9 * one.cost.operations() / one.seconds) : "-",
          share_cell(one.read, style),
          share_cell(one.compute, style),
          one.rival.empty() ? "-" : fmt::format("{:.2f} x {}", one.speed, one.rival)};
}

// "38.1 GB/s (512 bits, 1 stream, huge pages)": of the last benchmark that has it.
std::string roof_line(const std::vector<BenchResult>& results) {
  const Rounds::Ratio* read = nullptr;
  std::map<std::string, double> peaks;
  for (const BenchResult& one : results) {
    if (one.read) read = &*one.read;
    if (one.compute) peaks[one.compute->measured] = one.compute->roof;
  }
  std::string out;
  if (read != nullptr) out += fmt::format("read roof {:.1f} GB/s ({})\n", read->roof, read->measured);
  for (const auto& [name, peak] : peaks) out += fmt::format("peak {:.1f} Gop/s ({})\n", peak, name);
  if (!out.empty()) out += "Each share is the median of ratios to a roof read in the same round; processor time of one thread.\n";
  return out;
}

void add_ratio(nlohmann::ordered_json& json, const char* what, const char* unit, const std::optional<Rounds::Ratio>& ratio) {
  if (!ratio) return;
  json[fmt::format("{}_percent", what)] = 100 * ratio->share;
  json[fmt::format("{}_roof_{}", what, unit)] = ratio->roof;
  json[fmt::format("{}_roof_loop", what)] = ratio->measured;
}

nlohmann::ordered_json reading_json(const Reading& run) {
  nlohmann::ordered_json json{{"real_time", 1e9 * run.seconds}};
  if (run.read_share) json["read_percent"] = 100 * *run.read_share;
  if (run.compute_share) json["compute_percent"] = 100 * *run.compute_share;
  if (run.speed > 0) json["speed"] = run.speed;
  return json;
}

}  // namespace

std::string bench_table(const std::vector<BenchResult>& results, const Style& style) {
  // The last column is of plugins alone: how fast against the best of ours.
  const bool rivals = std::any_of(results.begin(), results.end(), [](const BenchResult& one) { return !one.rival.empty(); });
  std::vector<std::string> head{"variant", "shape", "cache", ">time", ">GB/s", ">Gop/s", ">of read roof", ">of peak"};
  if (rivals) head.emplace_back(">speed");
  Table table(head);
  for (const BenchResult& one : results) {
    std::vector<std::string> cells = row(one, style);
    cells.resize(head.size());
    table.add(std::move(cells));
  }
  std::string out = table.render(style) + "\n" + roof_line(results);
  std::set<std::pair<std::string, std::string>> refused;  // once a variant, not once a shape
  for (const BenchResult& one : results) {
    if (!one.refusal.empty() && refused.emplace(one.variant, one.refusal).second) {
      out += style.bad("not timed") + " " + one.variant + ": " + one.refusal + "\n";
    }
    if (!one.failure.empty()) out += style.bad("FAIL") + " " + one.name + ": " + one.failure + "\n";
    if (one.timed() && one.threads > 1)
      out += fmt::format("{} ran on {} threads: {} of processor time a call, {} of wall time\n", one.name, one.threads,
                         time_text(one.seconds), time_text(one.wall_seconds));
    if (one.timed() && one.roof_suspect()) {
      out += style.warn("suspect roof") + " " + one.name +
             " runs above 100 %: the roof was measured too low, or the call was not cold; run it again on a quiet machine\n";
    }
  }
  return out;
}

nlohmann::ordered_json bench_json(const std::vector<BenchResult>& results) {
  nlohmann::ordered_json json{{"context", environment_json()}, {"benchmarks", nlohmann::ordered_json::array()}};
  json["context"]["last_level_cache_bytes"] = last_level_cache_bytes();
  json["context"]["cold_bytes"] = cold_bytes();
  json["context"]["threads"] = 1;
  json["context"]["clock"] = "processor time of the thread";
  for (const BenchResult& one : results) {
    nlohmann::ordered_json entry{{"name", one.name},
                                 {"op", one.op},
                                 {"variant", one.variant},
                                 {"shape", one.shape},
                                 {"cold", one.temperature == Temperature::cold}};
    if (!one.traits.declared().empty()) entry["traits"] = one.traits.declared();
    if (!one.timed()) {
      entry["error_occurred"] = true;
      entry["error_message"] = one.refusal + one.failure;
      entry["verdict"] = one.failure.empty() ? "not timed" : "FAIL";
    } else {
      entry["rounds"] = one.rounds;
      entry["real_time"] = 1e9 * one.seconds;
      entry["time_unit"] = "ns";
      entry["bytes_per_second"] = one.cost.bytes / one.seconds;
      if (one.cost.operations() > 0) entry["operations_per_second"] = one.cost.operations() / one.seconds;
      add_ratio(entry, "read", "gbytes_per_second", one.read);
      add_ratio(entry, "compute", "gops_per_second", one.compute);
      entry["roof_suspect"] = one.roof_suspect();
      for (const Reading& run : one.readings) entry["runs"].push_back(reading_json(run));
      if (!one.rival.empty()) {
        entry["wall_time"] = 1e9 * one.wall_seconds;
        entry["threads_seen"] = one.threads;
        entry["seed"] = one.seed;
        entry["outputs_sha256"] = one.outputs;
        entry["rival"] = one.rival;
        entry["rival_time"] = 1e9 * one.rival_seconds;
        entry["speed"] = one.speed;
      }
    }
    json["benchmarks"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace assay::bench
