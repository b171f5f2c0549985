#include "tests/plan_c_support.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/program.h"

namespace assay {

CommandRun run_command(const std::string& command) {
  CommandRun ran;
  FILE* const pipe = popen(("exec 2>&1; " + command).c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer{};
  for (std::size_t read = 0; (read = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) ran.out.append(buffer.data(), read);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

bool can_build_c() {
  return std::getenv("ASSAY_C_COMPILER") != nullptr;
}

CProgram::CProgram(const std::filesystem::path& model, const std::vector<std::string>& options)
    : folder_(temporary_.path() / "program") {
  std::vector<std::string> words{"plan", model.string(), "--c", folder_.string()};
  words.insert(words.end(), options.begin(), options.end());
  const Ran ran = run_assay(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
}

void CProgram::rewrite(const std::string& source) const {
  std::ofstream(folder_ / "model.c") << source;
}

void CProgram::build(const std::string& flags) const {
  const CommandRun ran = run_command(std::string("cd ") + folder_.string() + " && " + std::getenv("ASSAY_C_COMPILER") +
                                     " -std=c11 -Wall -Wextra -Werror -O1 " + flags + " -I" + std::getenv("ASSAY_SOURCE_DIR") +
                                     " *.c -o main " + std::getenv("ASSAY_KERNELS") + " -lm");
  EXPECT_EQ(ran.status, 0) << ran.out;
}

std::vector<std::string> CProgram::run(const std::string& arguments, const std::string& environment) const {
  const CommandRun ran =
      run_command("cd " + folder_.string() + " && " + environment + " ./main " + arguments + " 2>said || { cat said; exit 1; }");
  EXPECT_EQ(ran.status, 0) << ran.out;
  std::vector<std::string> lines;
  std::istringstream out(ran.out);
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  return lines;
}

std::string ids_text(const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += std::to_string(id) + " ";
  return text;
}

}  // namespace assay
