// Commands of the program that read files and that write one, with what they need in a folder of the test's own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::faults {

struct Command {
  std::string name;
  std::vector<std::string> arguments;
  std::filesystem::path file;  // which it reads, or writes
  std::vector<std::string> environment = {};
};

// Each reads `file`, a copy in `folder`, and passes.
std::vector<Command> readers(const std::filesystem::path& folder);
// Each writes `file`, in a folder of its own below `folder` and the same bytes each time.
std::vector<Command> writers(const std::filesystem::path& folder);

// With a fault of tests/faults/faulty_io.c; `met`: the file that it makes.
std::vector<std::string> environment_of(const Command& command, const std::string& fault, const std::filesystem::path& met);

void write_content(const std::filesystem::path& file, const std::string& text);

}  // namespace assay::faults
