// Every call to the operating system that a command makes for a file fails once: the command ends with status 2 and names the file, or
// comes to the same as without a fault, as it must where trying again is right; what it writes is the old file or the new one, and
// nothing else is left.
// Calls 1, 2, 3, 9, 27, ... until the command does not come so far, and of commands that write alike one; with ASSAY_ALL_FAULTS each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "tests/faults/commands.h"
#include "tests/temporary.h"

namespace assay::faults {
namespace {

namespace fs = std::filesystem;

bool all_faults() {
  return std::getenv("ASSAY_ALL_FAULTS") != nullptr;
}

int next(int number) {
  return number < 3 || all_faults() ? number + 1 : 3 * number;
}

struct Fault {
  const char* call;
  const char* how;
  bool retried;  // the command must pass all the same
};

int met_in_all = 0;

// Runs the command with the fault at one call after the other; `expect` looks at each run that met it.
template <class Prepare, class Expect>
void at_every_call(const Command& command, const Fault& fault, const std::string& text, Prepare prepare, Expect expect) {
  const TemporaryFolder folder;
  const fs::path met = folder.path() / "met";
  for (int number = 1;; number = next(number)) {
    prepare();
    const std::string words = std::string(fault.call) + "," + std::to_string(number) + "," + fault.how + "," + text;
    SCOPED_TRACE(command.name + ": " + words);
    const Ran ran = run_assay(command.arguments, environment_of(command, words, met));
    if (!fs::remove(met)) {
      EXPECT_EQ(ran.status, 0) << "without a fault: " << ran.err;
      return;
    }
    ++met_in_all;
    expect(ran);
    if (testing::Test::HasFailure()) return;
  }
}

void expect_named(const Ran& ran, const std::string& file) {
  EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
  EXPECT_TRUE(ran.err.starts_with("assay: ")) << ran.err;
  EXPECT_NE(ran.err.find(file), std::string::npos) << ran.err;
}

TEST(IoFaults, WhatCannotBeReadIsNamed) {
  const TemporaryFolder folder;
  met_in_all = 0;
  constexpr Fault kFaults[] = {{"open", "EIO", false},  {"read", "EIO", false},  {"pread", "EIO", false},
                               {"mmap", "EIO", false},  {"read", "EINTR", true}, {"pread", "EINTR", true},
                               {"read", "short", true}, {"pread", "short", true}};
  for (const Command& command : readers(folder.path())) {
    const Ran without = run_assay(command.arguments, command.environment);
    const std::string& plain = without.out;
    ASSERT_EQ(without.status, 0) << command.name << ": " << without.err;
    for (const Fault& fault : kFaults) {
      at_every_call(
          command, fault, command.file.string(), [] {},
          [&](const Ran& ran) {
            // A call that is made for a look alone may fail: what comes of it counts.
            if (!fault.retried && ran.out != plain) return expect_named(ran, command.file.string());
            EXPECT_EQ(ran.status, 0) << ran.err;
            EXPECT_EQ(ran.out, plain);
          });
      if (HasFailure()) break;
    }
  }
  EXPECT_GT(met_in_all, 60);
  std::cout << met_in_all << " faults met\n";
}

// Somebody cuts the file in two while it is mapped.
TEST(IoFaults, AModelThatShrinksIsNamed) {
  const TemporaryFolder folder;
  const TemporaryFolder aside;
  const fs::path met = aside.path() / "met";
  for (const Command& command : readers(folder.path())) {
    if (!command.name.starts_with("run a ")) continue;
    SCOPED_TRACE(command.name);
    const std::string whole = file_bytes(command.file);
    const Ran ran = run_assay(command.arguments, environment_of(command, "mmap,1,shrink," + command.file.string(), met));
    EXPECT_TRUE(fs::remove(met));
    expect_named(ran, command.file.string() + ": byte ");
    EXPECT_NE(ran.err.find("cut short while it was in use"), std::string::npos) << ran.err;
    write_content(command.file, whole);
  }
  // A conversion leaves nothing of what it had begun to write.
  const fs::path model = folder.path() / "kjv";
  const Command quantize{
      "quantize", {"quantize", model, "-o", aside.path() / "q.gguf", "--type", "q8_0"}, model / "model.safetensors"};
  const Ran ran = run_assay(quantize.arguments, environment_of(quantize, "mmap,1,shrink," + quantize.file.string(), met));
  EXPECT_TRUE(fs::remove(met));
  expect_named(ran, quantize.file.string() + ": byte ");
  EXPECT_TRUE(fs::is_empty(aside.path()));
}

class Writing : public testing::Test {
 protected:
  // `fresh`: what the command writes; `old` stands there before.
  void expect_whole(const Command& command, const std::string& old, const std::string& fresh, bool written) {
    const std::string now = file_bytes(command.file);
    if (written) {
      EXPECT_TRUE(now == fresh) << "not the new file";
    } else {
      EXPECT_TRUE(now == old || now == fresh) << "a broken file of " << now.size() << " bytes";
    }
    EXPECT_FALSE(fs::exists(command.file.string() + ".new"));
  }
};

TEST_F(Writing, WhatCannotBeWrittenIsNamedAndTheOldFileStays) {
  const TemporaryFolder folder;
  met_in_all = 0;
  constexpr Fault kFaults[] = {{"open", "EIO", false},     {"write", "EIO", false},     {"pwrite", "EIO", false},
                               {"fsync", "EIO", false},    {"ftruncate", "EIO", false}, {"rename", "EIO", false},
                               {"write", "ENOSPC", false}, {"pwrite", "ENOSPC", false}, {"ftruncate", "ENOSPC", false},
                               {"fsync", "ENOSPC", false}, {"write", "EINTR", true},    {"pwrite", "EINTR", true},
                               {"fsync", "EINTR", true},   {"write", "short", true},    {"pwrite", "short", true}};
  const std::set<std::string> alike{"import", "synth", "diff"};  // as trace, quantize and completion
  for (const Command& command : writers(folder.path())) {
    if (alike.contains(command.name) && !all_faults()) continue;
    const bool ledger = command.name == "ledger accept";
    const std::string old = ledger ? file_bytes(command.file) : "the old file\n";
    ASSERT_EQ(run_assay(command.arguments, command.environment).status, 0) << command.name;
    const std::string fresh = file_bytes(command.file);
    ASSERT_NE(old, fresh);
    for (const Fault& fault : kFaults) {
      const bool folder_too = std::string_view(fault.call) == "fsync";
      const fs::path text = folder_too ? command.file.parent_path() : command.file;
      at_every_call(
          command, fault, text.string(), [&] { write_content(command.file, old); },
          [&](const Ran& ran) {
            const bool passed = fault.retried || ran.status == 0;
            if (passed) {
              EXPECT_EQ(ran.status, 0) << ran.err;
            } else {
              expect_named(ran, command.file.string());
            }
            expect_whole(command, old, fresh, passed);
          });
      if (HasFailure()) break;
    }
  }
  EXPECT_GT(met_in_all, 60);
  std::cout << met_in_all << " faults met\n";
}

}  // namespace
}  // namespace assay::faults
