// The page of `assay diff --html` as text. diff_html_test opens it.
#include <gtest/gtest.h>

#include "harness/forensics/diff/html.h"
#include "tests/diff_support.h"
#include "tests/temporary.h"

namespace assay::diff {
namespace {

TEST(DiffPage, ThePageIsSelfContained) {
  const TemporaryFolder folder;
  const std::string page = diff_html(diverging_diff(folder.path()));
  for (const char* fetched : {"http:", "https:", "src=\"", "href=\"/", "@import", "url("}) {
    EXPECT_EQ(page.find(fetched), std::string::npos) << fetched;
  }
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_EQ(count(page, "class=\"heat\""), 6U);
}

// Names are text: of a trace that someone sent, they make no elements.
TEST(DiffPage, NamesMakeNoElements) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "odd.h5";
  const std::string odd = "<img onerror=x>&\"\xff";
  TraceWriter writer(path, {"</script><b>", "bf16", "x", "assay", "f64", "float32", "t", "1", "s", "l"});
  TracePrompt prompt;
  prompt.name = odd;
  prompt.tokens = {1};
  prompt.positions = {0};
  writer.open_prompt(prompt);
  writer.declare({odd, DType::f32, {1}, 0});
  const std::vector<float> one{1.0F};
  writer.append(odd, std::span(one));
  writer.commit();
  const std::string page = diff_html(compare_traces(TraceFile(path), TraceFile(path), nullptr, {}));
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find("&lt;img onerror=x&gt;&amp;&quot;"), std::string::npos);
}

}  // namespace
}  // namespace assay::diff
