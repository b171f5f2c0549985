// The plugin header: the same layout in C11 and C++20, and the one that the ABI version stands for.
#include <gtest/gtest.h>

#include <vector>

#include "harness/plugin/assay_plugin.h"
#include "tests/plugin_layout.h"

namespace assay::plugin_header_test {
namespace {

TEST(PluginHeader, CAndCxxLayItOutAlike) {
  const std::vector<std::size_t> version_2{72, 40, 4, 8, 16, 24, 32, 40, 48, 56, 64, 4, 8, 16, 24, 32};
  std::vector<std::size_t> c;
  for (const std::size_t* one = c_plugin_layout; *one != 0; ++one) c.push_back(*one);
  EXPECT_EQ(c, version_2);
  EXPECT_EQ(sizeof(AssayPluginKernel), version_2[0]);
  EXPECT_EQ(sizeof(AssayPlugin), version_2[1]);
  EXPECT_EQ(ASSAY_PLUGIN_ABI, 2) << "another layout is another version: write its numbers here";
  EXPECT_EQ(static_cast<int>(ASSAY_CLAIM_CANONICAL), 0);
  EXPECT_EQ(static_cast<int>(ASSAY_CLAIM_BOUNDED), 1);
}

}  // namespace
}  // namespace assay::plugin_header_test
