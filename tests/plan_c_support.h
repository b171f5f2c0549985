// Programs that `assay plan --c` writes, built with the build's own C compiler and kernels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/temporary.h"

namespace assay {

// What a command said and how it ended; its standard error goes where its output does.
struct CommandRun {
  int status = -1;
  std::string out;
};
CommandRun run_command(const std::string& command);

// Whether the build gives what a program in C is built with; a build with sanitizers does not.
bool can_build_c();

class CProgram {
 public:
  // Writes it by `assay plan MODEL --c`, with these options besides.
  CProgram(const std::filesystem::path& model, const std::vector<std::string>& options);

  const std::filesystem::path& folder() const { return folder_; }
  std::string source() const { return file_bytes(folder_ / "model.c"); }
  void rewrite(const std::string& source) const;
  // Compiles all of it, warnings as errors; `flags` besides. Fails the test where the compiler does.
  void build(const std::string& flags = "") const;
  // What it prints on standard output; the test fails where it ends with another status than 0.
  std::vector<std::string> run(const std::string& arguments, const std::string& environment = "") const;

 private:
  TemporaryFolder temporary_;
  std::filesystem::path folder_;
};

std::string ids_text(const std::vector<std::int32_t>& ids);

}  // namespace assay
