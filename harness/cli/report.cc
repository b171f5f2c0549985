#include <fmt/format.h>

#include <memory>
#include <utility>

#include "golden/output_rule.h"
#include "harness/cli/cli.h"
#include "harness/cli/late_file.h"
#include "harness/reports/report.h"
#include "harness/reports/report_page/history.h"
#include "harness/reports/report_page/page.h"
#include "harness/reports/report_page/words.h"

namespace assay::cli {
namespace {

struct ReportCliOptions {
  std::vector<std::string> reports;
  std::string html;
  std::vector<std::string> benches;
  bool merge = false, markdown = false;
};

int report(const ReportCliOptions& options, const Common& common) {
  std::vector<report_page::Part> parts;
  for (const std::string& path : options.reports) parts.push_back(report_page::read_part(path));
  std::vector<report_page::BenchFile> benches;
  for (const std::string& path : options.benches) benches.push_back(report_page::read_bench(path));
  // Without --merge they are runs over time, and the last is the one that is reported.
  std::vector<report_page::Part> past;
  if (!options.merge) past = std::exchange(parts, {parts.back()});
  LateFile html(options.html, kOwnPage);
  const report_page::Joined joined = report_page::join(std::move(parts), options.merge);
  html.write([&] { return report_page::page(joined, past, benches); });
  if (common.json) {
    fmt::print("{}", json_text(report_page::report_page_json(joined)));
  } else if (options.markdown) {
    fmt::print("{}", report_page::report_markdown(joined));
  } else {
    fmt::print("{}{}", report_page::history_text(past, common.style()), report_page::report_text(joined, common.style()));
  }
  return joined.passed() ? kPass : kParityFailure;
}

}  // namespace

Action add_report(CLI::App& app, const Common& common) {
  auto options = std::make_shared<ReportCliOptions>();
  CLI::App* command = app.add_subcommand("report", "Show the whole suite on one page; join and compare the parts of a split run");
  command
      ->add_option("report", options->reports,
                   "What `assay check --json` printed; several: runs over time, the oldest first, or with --merge parts of one")
      ->required();
  command->add_flag("--merge", options->merge,
                    "Join the reports as parts of one suite; a case that nobody ran, or that two answer differently, fails");
  command->add_option("-o,--html", options->html, "Write the page");
  command->add_option("--bench", options->benches, "Figures of `assay bench --json` for the page; repeatable, the oldest first");
  command->add_flag("--markdown", options->markdown, "Print Markdown, for a CI job's summary");
  command->footer("Example: assay check rms_norm --json >report.json; assay report report.json -o report.html");
  return [options, &common] { return report(*options, common); };
}

}  // namespace assay::cli
