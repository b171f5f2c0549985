// The pages of `assay diff --html` and `assay report -o`, opened in headless Chromium: their scripts run to the end, nothing is complained
// of, and what they are read for is in the document.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "golden/atomic_file.h"
#include "harness/forensics/diff/page.h"
#include "harness/reports/report_page/page.h"
#include "tests/diff_support.h"
#include "tests/report_support.h"
#include "tests/temporary.h"

namespace assay::pages_test {
namespace {

std::filesystem::path source_folder() {
  const char* folder = std::getenv("ASSAY_SOURCE_DIR");
  return folder == nullptr ? "." : folder;
}

bool have_chromium() {
  return std::system("command -v chromium >/dev/null 2>&1") == 0;
}

struct Opened {
  std::string dom;
  std::string console;  // what Chromium logs of the page
};

Opened open_page(const TemporaryFolder& folder, const std::string& page, const std::string& options = "",
                 const std::string& hash = "") {
  const auto file = folder.path() / "page.html";
  const auto log = folder.path() / "log";
  const auto dom = folder.path() / "dom";
  write_file_atomically(file, page);
  const std::string command =
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --user-data-dir='" +
      (folder.path() / "profile").string() + "' " + options + " --dump-dom 'file://" + file.string() + hash + "' >'" +
      dom.string() + "' 2>'" + log.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << file_bytes(log);
  Opened out{file_bytes(dom), ""};
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("CONSOLE") != std::string::npos) out.console += line + "\n";
  }
  return out;
}

TEST(Pages, ChromiumShowsTheDivergenceWithoutComplaint) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  const Opened opened = open_page(folder, diff::diff_html(diverging_diff(folder.path())));
  EXPECT_EQ(opened.console, "");
  // The script's last word: the prompts that it read.
  EXPECT_NE(opened.dom.find("data-ready=\"6\""), std::string::npos);
  EXPECT_EQ(count(opened.dom, "class=\"banner bad first-divergence\" data-site=\"layers.03.gate_proj\""), 6U);
  EXPECT_EQ(count(opened.dom, ">first divergence: layers.03.gate_proj</text>"), 6U);
  // gate_proj and up_proj, which read what is right as yet; each in the overview and in its op's panel.
  EXPECT_EQ(count(opened.dom, " diverges\" data-i="), 6U * 2 * 2);
  EXPECT_EQ(count(opened.dom, "class=\"heat\""), 6U);
}

// The pointer over a point of the overview, then over the first cell of the third column of the last heat map.
TEST(Pages, HoveringShowsValues) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  std::string page = diff::diff_html(diverging_diff(folder.path()));
  page.insert(page.find("</body>"), R"(<script>(() => {
    function over(element, x, y) { element.dispatchEvent(new MouseEvent('mousemove', {clientX: x, clientY: y})); }
    var tip = document.getElementById('tip'), seen = [];
    over(document.querySelector('section[data-prompt="1"] circle[data-i="64"]'), 10, 10); seen.push(tip.textContent);
    var maps = document.querySelectorAll('svg.heat'), map = maps[maps.length - 1], d = map.dataset;
    var at = new DOMPoint(+d.x + 2.5 * d.w, +d.y + 0.5 * d.h).matrixTransform(map.getScreenCTM());
    over(map, at.x, at.y); seen.push(tip.textContent);
    document.body.dataset.seen = seen.join('|');
  })();</script>)");
  const Opened opened = open_page(folder, page);
  EXPECT_EQ(opened.console, "");
  const std::size_t begin = opened.dom.find("data-seen=\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string seen = opened.dom.substr(begin, opened.dom.find("\">", begin) - begin);
  for (const char* part :
       {"layers.03.gate_proj\nrelative RMS   5.", "cosine         0.99999", "layers.00.q_proj\nposition 1311\n"}) {
    EXPECT_NE(seen.find(part), std::string::npos) << part << " is not in\n" << seen;
  }
}

// Names are text: of a trace that someone sent, they make no elements.
TEST(Pages, NamesMakeNoElements) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  const Opened opened = open_page(folder, oddly_named_page(folder.path()));
  EXPECT_EQ(opened.console, "");
  EXPECT_NE(opened.dom.find("data-ready=\"1\""), std::string::npos);
  EXPECT_EQ(opened.dom.find("<img"), std::string::npos);
  EXPECT_NE(opened.dom.find("&lt;img onerror=x&gt;&amp;\""), std::string::npos);
}

TEST(Pages, AReportShowsFailuresMarginsAndBench) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  using namespace report_page;
  const TemporaryFolder folder;
  const BenchFile bench{"bench.json", "one", "abc", {{"add_scalar", "n=8", true, 1500, 12.5, 40.0, {}}}};
  const Opened good = open_page(folder, page(join({part("add_scalar", "a", "d")}, false), {}, {bench}));
  EXPECT_EQ(good.console, "");
  for (const char* there :
       {"data-ready=\"1\"", "style=\"width:25.0%\"", "title=\"add_scalar: worst margin 0.25", ">40.0 %<", ">Bench<"}) {
    EXPECT_NE(good.dom.find(there), std::string::npos) << there;
  }
  Part bad = part("add_scalar", "a", "d");
  bad.cases[0].verdict = "fail";
  bad.cases[0].failure = "bound: <y> & \"z\"";
  const Opened failed = open_page(folder, page(join({bad, part("add_scalar", "a", "other")}, true), {}, {}));
  EXPECT_EQ(failed.console, "");
  for (const char* there : {"bound: &lt;y&gt; &amp; \"z\"", ">Failures<", ">Not one answer<", ">Run by nobody (1)<",
                            "banner bad\"><strong>FAIL: ", "class=\"scale\""}) {
    EXPECT_NE(failed.dom.find(there), std::string::npos) << there;
  }
  bad.cases[0].margin = 0;  // such as a fault: no error, which a bar would show beside the bound
  EXPECT_EQ(open_page(folder, page(join({bad}, false), {}, {})).dom.find("class=\"scale\""), std::string::npos);
}

// Words of an attribute of the root element.
std::string root_attribute(const std::string& dom, const std::string& name) {
  const std::string head = "data-" + name + "=\"";
  const std::size_t at = dom.find(head);
  if (at == std::string::npos) return "(none)";
  return dom.substr(at + head.size(), dom.find('"', at + head.size()) - at - head.size());
}

// At three widths, light and dark: nothing overflows, text has a contrast of 4.5 or more, everything is reached by the keyboard. In a frame, since
// Chromium's own window is 500 wide at least.
void audit(const std::string& page) {
  const TemporaryFolder folder;
  std::string audited = page;
  audited.insert(audited.find("</body>"), "<script>" + file_bytes(source_folder() / "tests/pages/audit.js") + "</script>");
  write_file_atomically(folder.path() / "inner.html", audited);
  for (const int width : {400, 900, 1400}) {
    const std::string frame = fmt::format(
        "<!DOCTYPE html><html><body style='margin:0'><iframe src='inner.html' style='border:0;width:{}px;height:900px' onload=\""
        "Object.assign(document.documentElement.dataset, this.contentDocument.documentElement.dataset)\"></iframe></body></html>",
        width);
    for (const bool dark : {false, true}) {
      const Opened opened =
          open_page(folder, frame,
                    fmt::format("--allow-file-access-from-files --window-size=1500,1000 --blink-settings=preferredColorScheme={}",
                                dark ? 0 : 1));
      EXPECT_EQ(opened.console, "");
      EXPECT_EQ(root_attribute(opened.dom, "dark"), dark ? "true" : "false");
      EXPECT_EQ(root_attribute(opened.dom, "wide"), std::to_string(width));
      EXPECT_EQ(root_attribute(opened.dom, "audit"), "none") << width << (dark ? " dark" : " light");
    }
  }
}

// A report with `failures` cases that failed, of five variants by three checks.
report_page::Joined failing_report(int failures) {
  using namespace report_page;
  Part bad = part("add_scalar", "a", "d");
  for (int i = 0; i < failures; ++i) {
    CaseLine line = bad.cases[0];
    line.variant = "add_v" + std::to_string(i % 5);
    line.name = "case_" + std::to_string(i);
    line.verdict = "fail";
    line.margin = 1.5 + i;
    line.failure = std::string(i % 3 == 0 ? "bound" : i % 3 == 1 ? "guard" : "bits") + ": y[" + std::to_string(i) + "] is wrong";
    line.repro = "assay check add --case " + line.name;
    bad.cases.push_back(line);
  }
  return join({bad}, false);
}

TEST(Pages, TheReportIsReadableAtAnyWidthLightAndDark) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  using namespace report_page;
  const BenchFile bench{"bench.json", "one", "abc", {{"add_scalar", "n=8", true, 1500, 12.5, 40.0, {}}}};
  const Part good = part("add_scalar", "a", "d");
  audit(page(failing_report(30), {good, good}, {bench, bench}));
}

TEST(Pages, TheDiffIsReadableAtAnyWidthLightAndDark) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  audit(diff::diff_html(diverging_diff(folder.path())));
}

// Or the two tests above could not fail.
TEST(Pages, TheAuditSeesOverflowFaintTextAndMice) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  const std::string head = "<!DOCTYPE html><html><body style='background:#fff;color:#000'>one<p>two</p><p>three</p><p>four</p>";
  const auto audited = [&](const std::string& body) {
    const std::string script = file_bytes(source_folder() / "tests/pages/audit.js");
    return root_attribute(open_page(folder, head + body + "<script>" + script + "</script></body></html>").dom, "audit");
  };
  EXPECT_EQ(audited(""), "none");
  EXPECT_NE(audited("<p style='color:#999'>faint</p>").find("contrast 2.8"), std::string::npos);
  EXPECT_NE(audited("<div style='width:3000px'>wide</div>").find("overflow: 30"), std::string::npos);
  EXPECT_NE(audited("<button tabindex='-1'>press</button>").find("not in the order of tabs"), std::string::npos);
  EXPECT_NE(audited("<input>").find("has no name"), std::string::npos);
}

TEST(Pages, AThousandFailuresOpenInTwoSecondsGroupedAndFiltered) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  std::string html = report_page::page(failing_report(1000), {}, {});
  // From the first byte of the document to the end of its layout; then what a person would do.
  html.insert(html.find("</body>"), R"(<script>(() => {
    document.body.getBoundingClientRect();
    const seen = [Math.round(performance.now()), document.querySelectorAll('#failures details').length, document.querySelectorAll('#failures li').length];
    const shown = () => document.getElementById('shown').textContent;
    seen.push(shown());
    document.getElementById('check').value = 'guard'; document.getElementById('check').dispatchEvent(new Event('change')); seen.push(shown());
    document.getElementById('words').value = 'case_10'; document.getElementById('words').dispatchEvent(new Event('input')); seen.push(shown());
    document.getElementById('order').value = 'margin'; document.getElementById('order').dispatchEvent(new Event('change'));
    seen.push([...document.querySelectorAll('#failures li:not(.hidden)')][0].dataset.case);
    document.documentElement.dataset.seen = seen.join('|');
  })();</script>)");
  const Opened opened = open_page(folder, html);
  EXPECT_EQ(opened.console, "");
  const std::string seen = root_attribute(opened.dom, "seen");
  int milliseconds = -1;
  char rest[200] = "";
  ASSERT_EQ(std::sscanf(seen.c_str(), "%d|%199[^\n]", &milliseconds, rest), 2) << seen;
  EXPECT_LT(milliseconds, 2000);
  // 15 groups of variant and check; case_10 and case_100 are guards', as case_106 and case_109 and case_103 are.
  EXPECT_EQ(std::string(rest).substr(0, 8), "15|1000|") << seen;
  EXPECT_NE(seen.find("|1000 of 1000 failures|333 of 1000 failures|"), std::string::npos) << seen;
}

// 1,000 failures of fifteen groups: of each the first three and how many more there are, as the filter leaves them.
TEST(Pages, PaperShowsTheFirstOfEachGroup) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  std::string html = report_page::page(failing_report(1000), {}, {});
  html.insert(html.find("</body>"), R"(<script>(() => {
    const words = document.getElementById('words');
    const print = () => {
      dispatchEvent(new Event('beforeprint'));
      const printed = [...document.querySelectorAll('#failures details[open] li')].filter(one => !one.matches('.hidden, .unprinted'));
      return `${printed.length}, ${document.querySelector('.problems').dataset.more || 'no more'}`;
    };
    const seen = [print()];
    words.value = 'case_10'; words.dispatchEvent(new Event('input')); seen.push(print());
    words.value = ''; words.dispatchEvent(new Event('input')); seen.push(print());
    document.body.dataset.seen = seen.join('|');
  })();</script>)");
  const Opened opened = open_page(folder, html);
  EXPECT_EQ(opened.console, "");
  EXPECT_NE(
      opened.dom.find(
          "data-seen=\"45, and 64 more: the page itself lists them|11, no more|45, and 64 more: the page itself lists them\""),
      std::string::npos)
      << opened.dom.substr(opened.dom.find("data-seen=\""), 120);
}

TEST(Pages, AnAddressLeadsToItsCase) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  const std::string html = report_page::page(failing_report(30), {}, {});
  for (const char* at : {"case/add_v2/case_7", "case/add_scalar/a"}) {
    const Opened opened = open_page(folder, html, "", std::string("#") + at);
    EXPECT_EQ(root_attribute(opened.dom, "at"), at);
  }
}

// A page whose script fails is told from one whose script does not, or the test above could not fail.
TEST(Pages, AComplaintWouldBeSeen) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  const Opened opened = open_page(folder, "<!DOCTYPE html><html><body><script>nothing.at.all();</script></body></html>");
  EXPECT_NE(opened.console.find("nothing is not defined"), std::string::npos) << opened.console;
}

}  // namespace
}  // namespace assay::pages_test
