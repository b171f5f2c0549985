// The pages of `assay diff --html` and `assay report -o`, opened in headless Chromium: their scripts run to the end, nothing is complained
// of, and what they are read for is in the document.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "golden/atomic_file.h"
#include "harness/forensics/diff/page.h"
#include "harness/reports/report_page/page.h"
#include "tests/diff_support.h"
#include "tests/report_support.h"
#include "tests/temporary.h"

namespace assay {
namespace {

bool have_chromium() {
  return std::system("command -v chromium >/dev/null 2>&1") == 0;
}

struct Opened {
  std::string dom;
  std::string console;  // what Chromium logs of the page
};

Opened open_page(const TemporaryFolder& folder, const std::string& page) {
  const auto file = folder.path() / "page.html";
  const auto log = folder.path() / "log";
  const auto dom = folder.path() / "dom";
  write_file_atomically(file, page);
  const std::string command =
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --user-data-dir='" +
      (folder.path() / "profile").string() + "' --dump-dom 'file://" + file.string() + "' >'" + dom.string() + "' 2>'" +
      log.string() + "'";
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
  const BenchFile bench{"bench.json", "one", {{"add_scalar", "n=8", true, 1500, 12.5, 40.0, {}}}};
  const Opened good = open_page(folder, page(join({part("add_scalar", "a", "d")}, false), &bench));
  EXPECT_EQ(good.console, "");
  for (const char* there :
       {"data-ready=\"1\"", "style=\"width:25.0%\"", "title=\"add_scalar: worst margin 0.25", ">40.0 %<", ">Bench<"}) {
    EXPECT_NE(good.dom.find(there), std::string::npos) << there;
  }
  Part bad = part("add_scalar", "a", "d");
  bad.cases[0].verdict = "fail";
  bad.cases[0].failure = "bound: <y> & \"z\"";
  const Opened failed = open_page(folder, page(join({bad, part("add_scalar", "a", "other")}, true), nullptr));
  EXPECT_EQ(failed.console, "");
  for (const char* there :
       {"bound: &lt;y&gt; &amp; \"z\"", ">Failures<", ">Not one answer<", ">Run by nobody (1)<", "banner bad\"><strong>FAIL: "}) {
    EXPECT_NE(failed.dom.find(there), std::string::npos) << there;
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
}  // namespace assay
