#include "harness/reports/report_page/bench_lines.h"

#include <nlohmann/json.hpp>

#include "harness/reports/report_page/reader.h"

namespace assay::report_page {
namespace {

constexpr std::string_view kBench = "`assay bench --json`";

}  // namespace

BenchFile read_bench(const std::filesystem::path& path) {
  const nlohmann::json document = Member::parse(path, kBench);
  const Member json(document, path.string() + ": ", kBench);
  BenchFile file{path.string(), json.at("context").at("cpu").text(), json.at("context").at("commit").text(), {}};
  for (const Member& one : json.at("benchmarks").items()) {
    if (one.has("error_occurred") && one.at("error_occurred").truth()) continue;
    if (one.at("time_unit").text() != "ns") one.at("time_unit").fail("\"ns\"");
    file.lines.push_back({one.at("variant").text(), one.at("shape").text(), one.at("cold").truth(), one.at("real_time").number(),
                          1e-9 * one.at("bytes_per_second").number(), one.number_if("read_percent"),
                          one.number_if("compute_percent")});
  }
  return file;
}

}  // namespace assay::report_page
