#include "harness/reports/report_page/page.h"

#include <nlohmann/json.hpp>

#include "harness/pages.h"
#include "harness/reports/page/page.h"
#include "harness/reports/report_page/history.h"
#include "harness/reports/report_page/words.h"

namespace assay::report_page {
namespace {

using Json = nlohmann::ordered_json;

Json bench_json(const BenchFile& bench) {
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json lines = Json::array();
  for (const BenchLine& line : bench.lines) {
    lines.push_back({{"variant", line.variant},
                     {"shape", line.shape},
                     {"cold", line.cold},
                     {"nanoseconds", line.nanoseconds},
                     {"gbytes_per_second", line.gbytes_per_second},
                     {"read_percent", number(line.read_percent)},
                     {"compute_percent", number(line.compute_percent)}});
  }
  return {{"path", bench.path}, {"cpu", bench.cpu}, {"lines", lines}};
}

}  // namespace

std::string page(const Joined& joined, const std::vector<Part>& past, const std::vector<BenchFile>& benches) {
  Json data = report_page_json(joined);
  if (!benches.empty()) data["bench"] = bench_json(benches.back());
  data["history"] = history_json(past, benches);
  return fill_page(kReportPage, data);
}

}  // namespace assay::report_page
