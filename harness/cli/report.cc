#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "golden/atomic_file.h"
#include "harness/cli/cli.h"
#include "harness/reports/report_page/page.h"
#include "harness/reports/report_page/words.h"

namespace assay::cli {
namespace {

struct ReportCliOptions {
  std::vector<std::string> reports;
  std::string html, bench;
  bool merge = false, markdown = false;
};

int report(const ReportCliOptions& options, const Common& common) {
  if (options.reports.size() > 1 && !options.merge) {
    throw std::invalid_argument(fmt::format("{} reports; --merge joins them, without it there is one", options.reports.size()));
  }
  std::vector<report_page::Part> parts;
  for (const std::string& path : options.reports) parts.push_back(report_page::read_part(path));
  std::optional<report_page::BenchFile> bench;
  if (!options.bench.empty()) bench = report_page::read_bench(options.bench);
  const report_page::Joined joined = report_page::join(std::move(parts), options.merge);
  if (!options.html.empty()) write_file_atomically(options.html, report_page::page(joined, bench ? &*bench : nullptr));
  if (common.json) {
    // A CPU's name or a path need not be UTF-8.
    fmt::print("{}\n",
               report_page::report_page_json(joined).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else if (options.markdown) {
    fmt::print("{}", report_page::report_markdown(joined));
  } else {
    fmt::print("{}", report_page::report_text(joined, common.style()));
  }
  return joined.passed() ? kPass : kParityFailure;
}

}  // namespace

Action add_report(CLI::App& app, const Common& common) {
  auto options = std::make_shared<ReportCliOptions>();
  CLI::App* command = app.add_subcommand("report", "The whole suite on one page; the parts of a split one, joined and compared");
  command->add_option("report", options->reports, "What `assay check --json` printed")->required();
  command->add_flag("--merge", options->merge,
                    "The reports are parts of one suite: what nobody ran or two answer otherwise fails");
  command->add_option("-o,--html", options->html, "Write the page");
  command->add_option("--bench", options->bench, "Figures of `assay bench --json` for the page");
  command->add_flag("--markdown", options->markdown, "Print Markdown, as for a step summary");
  command->footer("Example: assay report --merge part-1.json part-2.json -o report.html");
  return [options, &common] { return report(*options, common); };
}

}  // namespace assay::cli
