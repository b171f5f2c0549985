// One report of `assay check --json`, read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/verdict/shard.h"

namespace assay::report_page {

// What may make the same kernel answer otherwise.
struct Machine {
  std::string cpu;
  std::string isas;  // "scalar avx2"
  std::string compiler;
  std::string build_type;
  std::string flags;
  bool operator==(const Machine&) const = default;
};

// One case of one variant.
struct CaseLine {
  std::string op;
  std::string variant;
  std::string name;
  std::string verdict;  // pass, fail, mistrusted
  std::vector<std::string> tags;
  bool trivial = false;
  std::int64_t compared = 0;  // outputs held to truth or to bits
  double margin = 0;          // infinite where the report has null
  std::optional<double> z;
  std::optional<double> spread;
  std::string digest;
  std::string failure;  // "bound: y[3] = ..."; empty: none
  std::string repro;
};

struct Part {
  std::string path;
  std::string version;
  std::string commit;
  Machine machine;
  Shard shard;
  bool everything = true;  // no --case, --tag or made cases narrowed it
  std::string checks_off;
  std::map<std::string, std::vector<std::string>> known;  // op -> cases of the suite that this is a part of
  std::vector<CaseLine> cases;
  std::vector<std::string> faults;
  std::map<std::string, std::string> skips;   // what was not run, and why
  std::map<std::string, std::string> places;  // "kernels/norm.cc:12" of variants that did not pass, by label
};

// Throws std::runtime_error that names the file, the member and what was expected.
Part read_part(const std::filesystem::path& path);
// The same of a document; `path` is what complaints and tables name it by.
Part part_of(const nlohmann::json& document, const std::string& path);

}  // namespace assay::report_page
