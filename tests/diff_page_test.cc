// The page of `assay diff --html` as text. pages_test opens it.
#include <gtest/gtest.h>

#include "harness/forensics/diff/page.h"
#include "tests/diff_support.h"
#include "tests/temporary.h"

namespace assay::diff::diff_page_test {
namespace {

TEST(DiffPage, ThePageIsSelfContained) {
  const TemporaryFolder folder;
  const std::string page = diff_html(diverging_diff(folder.path()));
  for (const char* fetched : {"http:", "https:", "src=\"", "href=\"/", "@import", "url("}) {
    EXPECT_EQ(page.find(fetched), std::string::npos) << fetched;
  }
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_EQ(count(page, "\"cells\":[["), 6U);
  EXPECT_NE(page.find("<noscript>"), std::string::npos);
}

// Names are text: of a trace that someone sent, they make no elements.
TEST(DiffPage, NamesMakeNoElements) {
  const TemporaryFolder folder;
  const std::string page = oddly_named_page(folder.path());
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find(R"(\u003cimg onerror=x>&\")"), std::string::npos);
}

}  // namespace
}  // namespace assay::diff::diff_page_test
