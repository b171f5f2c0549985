// Files and lines agree: a kernel's file has its line in kernels.inc, an op's folder its adapter.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/verdict/adapter.h"
#include "tests/temporary.h"

namespace assay {
namespace {

std::filesystem::path kernels_folder() {
  return std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "kernels";
}

// Ops are the folders with a kernels.inc.
std::vector<std::filesystem::path> op_folders() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(kernels_folder())) {
    if (std::filesystem::exists(entry.path() / "kernels.inc")) folders.push_back(entry.path());
  }
  return folders;
}

TEST(KernelTables, EveryIsaFileHasItsLine) {
  int files = 0;
  for (const auto& folder : op_folders()) {
    const std::string lines = file_bytes(folder / "kernels.inc");
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".cc" || !isa_from_name(entry.path().stem().string())) continue;
      ++files;
      const std::string name = folder.filename().string() + "_" + entry.path().stem().string();
      EXPECT_NE(lines.find("(" + name + ","), std::string::npos) << entry.path() << " has no line in kernels.inc";
    }
  }
  EXPECT_GT(files, 0);
}

TEST(KernelTables, EveryFolderHasAnAdapter) {
  for (const auto& folder : op_folders()) {
    EXPECT_NE(find_adapter(folder.filename().string()), nullptr) << folder << " has no line in harness/verdict/ops.inc";
  }
  EXPECT_EQ(op_folders().size(), adapters().size());
}

TEST(KernelTables, ScalarIsLastAndNamesFollowTheGrammar) {
  for (const Adapter* adapter : adapters()) {
    const auto variants = adapter->variants();
    ASSERT_FALSE(variants.empty()) << adapter->op();
    EXPECT_EQ(variants.back().isa, Isa::scalar) << adapter->op();
    std::set<std::string> names;
    for (std::size_t v = 0; v < variants.size(); ++v) {
      EXPECT_EQ(variants[v].name, std::string(adapter->op()) + "_" + std::string(isa_name(variants[v].isa)));
      EXPECT_TRUE(names.insert(variants[v].name).second) << variants[v].name << " twice";
      if (v == 0) continue;
      EXPECT_GT(variants[v - 1].isa, variants[v].isa) << adapter->op() << ": not best first";
    }
  }
}

}  // namespace
}  // namespace assay
