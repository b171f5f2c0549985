// A file that ends too early, at many lengths: golden, trace, GGUF, safetensors, config, tokenizer, ledger, manifest, report. Each is named.
#include <gtest/gtest.h>

#include <set>

#include "tests/faults/commands.h"
#include "tests/temporary.h"

namespace assay::faults {
namespace {

TEST(Truncated, IsNamed) {
  const TemporaryFolder folder;
  for (const Command& command : readers(folder.path())) {
    if (command.name == "eval a text") continue;  // half of a text is a text
    const std::string whole = file_bytes(command.file);
    ASSERT_EQ(run_assay(command.arguments, command.environment).status, 0) << command.name;
    // A JSON file may do without its last line's end.
    for (const std::size_t size : std::set<std::size_t>{0, 1, 8, 100, whole.size() / 3, whole.size() / 2, whole.size() - 2}) {
      SCOPED_TRACE(command.name + ": " + std::to_string(size) + " of " + std::to_string(whole.size()) + " bytes");
      ASSERT_LT(size, whole.size());
      write_content(command.file, whole.substr(0, size));
      const Ran ran = run_assay(command.arguments, command.environment);
      EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
      EXPECT_TRUE(ran.err.starts_with("assay: ")) << ran.err;
      EXPECT_NE(ran.err.find(command.file.filename().string()), std::string::npos) << ran.err;
    }
    write_content(command.file, whole);
  }
}

}  // namespace
}  // namespace assay::faults
