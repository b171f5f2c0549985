// What another needs to judge a run of plugins' kernels again: whose they are, what they computed from which seeds, how long it took.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/verdict/bench/bench.h"

namespace assay::bench {

struct RecordedPlugin {
  std::string path;
  std::string name;
  std::string version;
  std::string sha256;  // of the file
};

struct RecordedItem {
  std::string op;
  std::string variant;
  std::string shape;
  Temperature temperature = Temperature::cold;
  std::uint64_t seed = 0;
  std::string digest;  // of the outputs that the seed's calls have
  double seconds = 0;
};

struct Record {
  std::vector<RecordedPlugin> plugins;
  std::vector<RecordedItem> items;
  std::string declared;  // by the user for the kernels (RunnerOptions::declared)
};

// `report`: that of the run, which holds the readings, machine and versions.
nlohmann::ordered_json record_json(const nlohmann::ordered_json& report, const std::vector<RecordedPlugin>& plugins);
// Throws std::runtime_error that names the file, what is wrong in it and what was expected.
Record read_record(const std::filesystem::path& file);

}  // namespace assay::bench
