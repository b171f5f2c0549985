// The tables of kernels against the rows that they are made of (kernels/<family>/ops.inc, kernels/isa.inc), the ops and the object files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/op_tables.h"
#include "reference/ops/op.h"

namespace assay::kernel_tables_test {
namespace {

struct Row {
  std::string op;
  std::vector<std::string> isas;  // of its group
  std::filesystem::path file;
};

// Every ASSAY_OP of every family, with the ISAs of the ASSAY_GROUP above it.
std::vector<Row> rows() {
  const std::regex group(R"(ASSAY_GROUP\(\w+, +\w+, +([\w ]+)\))");
  const std::regex op(R"(ASSAY_OP\((\w+)[,)].*)");
  std::vector<Row> found;
  for (const auto& folder :
       std::filesystem::directory_iterator(std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "kernels")) {
    std::ifstream file(folder.path() / "ops.inc");
    std::vector<std::string> isas;
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (std::regex_match(line, match, group)) {
        std::istringstream words(match[1]);
        isas.assign(std::istream_iterator<std::string>(words), {});
      } else if (std::regex_match(line, match, op)) {
        found.push_back({match[1], isas, folder.path() / "ops.inc"});
      } else {
        EXPECT_TRUE(line.empty() || line.starts_with("//")) << folder.path() << ": " << line;
      }
    }
  }
  return found;
}

// The ISAs of this build: those of this architecture, or scalar alone.
std::set<Isa> built_isas() {
  const std::map<Isa, std::string> architectures = {
#define ASSAY_ISA(name, architecture, ...) {Isa::name, #architecture},
#include "kernels/isa.inc"
#undef ASSAY_ISA
  };
  std::set<Isa> in_tables;
  for (const OpTable& table : op_tables()) {
    for (const AnyKernel& kernel : table.kernels) in_tables.insert(kernel.isa);
  }
  if (in_tables == std::set{Isa::scalar}) return in_tables;  // built with ASSAY_SCALAR_ONLY, or where there is no other
#if defined(__x86_64__)
  const std::string here = "x86_64";
#else
  const std::string here = "aarch64";
#endif
  std::set<Isa> isas;
  for (const auto& [isa, architecture] : architectures) {
    if (architecture == "any" || architecture == here) isas.insert(isa);
  }
  return isas;
}

TEST(KernelTables, EveryRowHasAKernelForEachIsaOfItsGroup) {
  const std::set<Isa> built = built_isas();
  const std::vector<Row> all = rows();
  EXPECT_GT(all.size(), 0u);
  EXPECT_EQ(all.size(), op_tables().size());
  for (const Row& row : all) {
    const OpTable* table = find_op_table(row.op);
    ASSERT_NE(table, nullptr) << row.op << " of " << row.file;
    std::set<Isa> expected;
    for (const std::string& name : row.isas) {
      const auto isa = isa_from_name(name);
      ASSERT_TRUE(isa) << name << " of " << row.file;
      if (built.contains(*isa)) expected.insert(*isa);
    }
    std::set<Isa> found;
    for (const AnyKernel& kernel : table->kernels) found.insert(kernel.isa);
    EXPECT_EQ(found, expected) << row.op;
  }
}

TEST(KernelTables, EveryTableHasAnOpAndEveryOpATable) {
  ASSERT_EQ(ops().size(), op_tables().size());
  for (std::size_t i = 0; i < ops().size(); ++i) {
    const Op& op = *ops()[i];
    EXPECT_EQ(std::string(op.name), op_tables()[i].op);
    EXPECT_EQ(find_op(op_tables()[i].op), &op);
    EXPECT_EQ(op.family->args_bytes, op.table->args_bytes) << op.name;
  }
}

TEST(KernelTables, ScalarIsLastAndNamesFollowTheGrammar) {
  std::set<std::string> names;
  for (const OpTable& table : op_tables()) {
    ASSERT_FALSE(table.kernels.empty()) << table.op;
    EXPECT_EQ(find_op_table(table.op)->kernels.data(), table.kernels.data()) << table.op << " twice";
    EXPECT_EQ(table.kernels.back().isa, Isa::scalar) << table.op;
    for (std::size_t k = 0; k < table.kernels.size(); ++k) {
      const AnyKernel& kernel = table.kernels[k];
      EXPECT_EQ(kernel.name, std::string(table.op) + "_" + std::string(isa_name(kernel.isa)));
      EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name << " twice";
      EXPECT_NE(kernel.run, nullptr) << kernel.name;
      if (k == 0) continue;
      EXPECT_GT(table.kernels[k - 1].isa, kernel.isa) << table.op << ": not best first";
    }
  }
}

// The lines that a program of binutils prints of a library.
std::vector<std::string> lines_of(const std::string& program, const std::string& library) {
  const std::string command = program + " -A '" + library + "'";
  std::FILE* pipe = popen(command.c_str(), "r");  // NOLINT(bugprone-command-processor): the path is the build's
  std::vector<std::string> lines;
  char line[4096];
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) lines.emplace_back(line);
  if (pipe != nullptr) pclose(pipe);
  return lines;
}

// What `nm` says of the objects of kernels.cc: a type and a name a symbol.
std::vector<std::pair<char, std::string>> symbols_of_kernels(const std::string& library) {
  std::vector<std::pair<char, std::string>> symbols;
  const std::regex line_of_one(R"([^:]*:kernels\.cc\.[^:]*:[0-9a-f ]* ([A-Za-z]) (.*)\n)");
  for (const std::string& line : lines_of("nm", library)) {
    std::smatch match;
    if (std::regex_match(line, match, line_of_one)) symbols.emplace_back(*match[1].first, match[2]);
  }
  return symbols;
}

// Of a weak symbol the linker keeps any one: a template compiled here with -mavx512f would run on an older CPU. Kernels keep nothing
// between calls, so none has data to write to, and call nothing of C++.
TEST(KernelTables, ObjectsHaveNothingWeakNoDataAndNoSymbolButTheKernels) {
  const char* library = std::getenv("ASSAY_KERNELS");
  if (library == nullptr) GTEST_SKIP() << "ASSAY_KERNELS names no library: sanitizers add data of their own";
  std::set<std::string> kernels;
  for (const OpTable& table : op_tables()) {
    for (const AnyKernel& kernel : table.kernels) kernels.insert(kernel.name);
  }
  // Of the C library what computes or copies, and nothing that allocates, waits or remembers; GCC's facts of the CPU.
  const std::set<std::string> kCalled{
      "memcpy", "memmove", "memset", "memcmp", "bcmp", "fma", "fmaf", "__cpu_model", "_GLOBAL_OFFSET_TABLE_"};
  std::set<std::string> found;
  for (const auto& [type, name] : symbols_of_kernels(library)) {
    if (name.ends_with("__gxx_personality_v0")) continue;
    if (type == 'T') {
      EXPECT_TRUE(kernels.contains(name)) << name << " is visible and no kernel";
      EXPECT_TRUE(found.insert(name).second) << name << " twice";
    } else if (type == 'U') {
      EXPECT_TRUE(kernels.contains(name) || kCalled.contains(name)) << name << " is called";
    } else {
      EXPECT_NE(std::string("trRnN").find(type), std::string::npos) << "nm: " << type << " " << name;
    }
  }
  EXPECT_EQ(found, kernels);
}

// Data to write to that has no name, a thread's own, and code that runs before any call.
TEST(KernelTables, ObjectsHaveNoSectionToWriteTo) {
  const char* library = std::getenv("ASSAY_KERNELS");
  if (library == nullptr) GTEST_SKIP() << "ASSAY_KERNELS names no library: sanitizers add data of their own";
  const std::regex section(R"((\.[^ ]+) +(\d+) +\d+\s*)");
  int seen = 0;
  bool of_kernels = false;
  for (const std::string& line : lines_of("size", library)) {
    std::smatch match;
    if (line.find("(ex ") != std::string::npos) of_kernels = line.starts_with("kernels.cc");
    if (!of_kernels || !std::regex_match(line, match, section)) continue;
    const std::string name = match[1];
    const bool constant = name.starts_with(".data.rel.ro");
    for (const char* writable : {".data", ".bss", ".tdata", ".tbss", ".init_array", ".ctors"}) {
      if (!name.starts_with(writable) || constant) continue;
      ++seen;
      EXPECT_EQ(match[2], "0") << name << " of an object of kernels.cc";
    }
  }
  EXPECT_GT(seen, 100);
}

}  // namespace
}  // namespace assay::kernel_tables_test
