#include <nlohmann/json.hpp>
#include <stdexcept>

#include "golden/read_file.h"
#include "harness/verdict/bench/comparison.h"

namespace assay::bench {
namespace {

double unit_of(const nlohmann::json& entry) {
  const std::string unit = entry.value("time_unit", "ns");
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  throw std::runtime_error("time_unit \"" + unit + "\" is none of ns, us, ms, s");
}

// A member that must be above 0, since ratios are made of it.
double positive(const nlohmann::json& entry, const char* key) {
  const double value = entry.at(key).get<double>();
  if (!(value > 0)) throw std::runtime_error(std::string(key) + " is " + entry.at(key).dump() + "; expected a number above 0");
  return value;
}

Reading reading_of(const nlohmann::json& entry, double unit) {
  const auto share = [&](const char* key) {
    return entry.contains(key) ? std::optional(positive(entry, key) / 100) : std::nullopt;
  };
  return {unit * positive(entry, "real_time"), share("read_percent"), share("compute_percent"), 0};
}

// Of Google Benchmark each repetition is a run, and "/iterations:1/manual_time" is appended to the name.
void add(Baseline& baseline, const nlohmann::json& entry) {
  const std::string name = entry.at("name").get<std::string>();
  std::vector<Reading>& runs = baseline.runs[name.substr(0, name.find("/iterations:"))];
  const double unit = unit_of(entry);
  if (!entry.contains("runs")) {
    runs.push_back(reading_of(entry, unit));
    return;
  }
  if (entry.at("runs").empty()) throw std::runtime_error("runs of '" + name + "' are none; expected at least one");
  for (const nlohmann::json& run : entry.at("runs")) runs.push_back(reading_of(run, unit));
}

}  // namespace

Baseline load_baseline(const std::filesystem::path& file) {
  try {
    const nlohmann::json json = nlohmann::json::parse(read_file(file));
    Baseline baseline{file.string(), "", {}};
    if (json.contains("context")) baseline.cpu = json.at("context").value("cpu", "");
    for (const nlohmann::json& entry : json.at("benchmarks")) {
      if (entry.value("error_occurred", false) || entry.value("run_type", "iteration") != "iteration") continue;
      add(baseline, entry);
    }
    return baseline;
  } catch (const nlohmann::json::exception&) {
    throw std::runtime_error(file.string() + ": is not what `assay bench -o` or --benchmark_out writes");
  } catch (const std::exception& error) {
    const std::string what = error.what();
    throw std::runtime_error(what.starts_with(file.string()) ? what : file.string() + ": " + what);
  }
}

}  // namespace assay::bench
