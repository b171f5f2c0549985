// The page of `assay diff --html`, opened in headless Chromium: its script runs to the end, nothing is complained of, and the site
// where the runs part is in the document.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "golden/atomic_file.h"
#include "harness/forensics/diff/html.h"
#include "tests/diff_support.h"
#include "tests/temporary.h"

namespace assay::diff {
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

TEST(DiffHtml, ChromiumShowsTheDivergenceWithoutComplaint) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  const Opened opened = open_page(folder, diff_html(diverging_diff(folder.path())));
  EXPECT_EQ(opened.console, "");
  // The script's last word: the prompts that it read.
  EXPECT_NE(opened.dom.find("data-ready=\"6\""), std::string::npos);
  EXPECT_EQ(count(opened.dom, "class=\"banner bad first-divergence\" data-site=\"layers.03.gate_proj\""), 6U);
  EXPECT_EQ(count(opened.dom, ">first divergence: layers.03.gate_proj</text>"), 6U);
  // gate_proj and up_proj, which read what is right as yet; each in the overview and in its op's panel.
  EXPECT_EQ(count(opened.dom, " diverges\" data-i="), 6U * 2 * 2);
}

// The pointer over a point of the overview, then over the first cell of the third column of the last heat map.
TEST(DiffHtml, HoveringShowsValues) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  std::string page = diff_html(diverging_diff(folder.path()));
  page.insert(page.find("</body>"), R"(<script>
    function over(element, x, y) { element.dispatchEvent(new MouseEvent('mousemove', {clientX: x, clientY: y})); }
    var tip = document.getElementById('tip'), seen = [];
    over(document.querySelector('section[data-prompt="1"] circle[data-i="64"]'), 10, 10); seen.push(tip.textContent);
    var maps = document.querySelectorAll('svg.heat'), map = maps[maps.length - 1], d = map.dataset;
    var at = new DOMPoint(+d.x + 2.5 * d.w, +d.y + 0.5 * d.h).matrixTransform(map.getScreenCTM());
    over(map, at.x, at.y); seen.push(tip.textContent);
    document.body.dataset.seen = seen.join('|');
  </script>)");
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

// A page whose script fails is told from one whose script does not, or the test above could not fail.
TEST(DiffHtml, AComplaintWouldBeSeen) {
  if (!have_chromium()) GTEST_SKIP() << "chromium is not installed (ci/setup installs it)";
  const TemporaryFolder folder;
  const Opened opened = open_page(folder, "<!DOCTYPE html><html><body><script>nothing.at.all();</script></body></html>");
  EXPECT_NE(opened.console.find("nothing is not defined"), std::string::npos) << opened.console;
}

}  // namespace
}  // namespace assay::diff
