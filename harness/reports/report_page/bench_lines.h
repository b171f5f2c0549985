// What `assay bench --json` found, read back for the page.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::report_page {

struct BenchLine {
  std::string variant;
  std::string shape;
  bool cold = false;
  double nanoseconds = 0;
  double gbytes_per_second = 0;
  std::optional<double> read_percent;     // of the machine's measured read roof
  std::optional<double> compute_percent;  // of its measured peak
};

struct BenchFile {
  std::string path;
  std::string cpu;
  std::string commit;
  std::vector<BenchLine> lines;  // those that were timed
};

// Throws std::runtime_error that names the file, the member and what was expected.
BenchFile read_bench(const std::filesystem::path& path);

}  // namespace assay::report_page
