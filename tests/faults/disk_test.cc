// A full disk, a file that may not grow, memory that ends, standard streams that are closed or full, two writers of one file.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "golden/atomic_file.h"
#include "golden/hdf5_writer.h"
#include "harness/verdict/suite.h"
#include "tests/faults/commands.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::faults {
namespace {

namespace fs = std::filesystem;

std::string embedded_model() {
  return own_golden() / "models" / "kjv";
}

std::vector<std::vector<std::string>> printing_commands() {
  const std::string golden = own_golden() / "ops" / "argmax.h5";
  const std::string trace = own_golden() / "traces" / "kjv-hf-bf16.h5";
  return {{},
          {"--help"},
          {"--version"},
          {"list"},
          {"list", "--json"},
          {"check", "argmax", "--isa", "scalar"},
          {"check", "argmax", "--isa", "scalar", "--json"},
          {"inspect", golden},
          {"plan", embedded_model()},
          {"run", embedded_model(), "-p", "And", "-n", "2"},
          {"run", embedded_model(), "-p", "And", "-n", "2", "--json"},
          {"diff", trace, trace, "--brief"},
          {"ledger", "show", "argmax"},
          {"completion", "zsh"},
          {"completion", "man"}};
}

TEST(StandardOutput, ThatIsFullIsAnError) {
  for (const auto& arguments : printing_commands()) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const Ran ran = run_assay(arguments, {}, {{}, "/dev/full"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_NE(ran.err.find("assay: standard output: cannot be written"), std::string::npos) << ran.err;
  }
}

// The files that it opens are not taken for its streams.
TEST(StandardOutput, ThatIsClosedIsAnErrorAndNoOtherFileIsPrintedInto) {
  const TemporaryFolder folder;
  const Launch closed{{"sh", "-c", "exec \"$@\" >&-", "sh"}, ""};
  const std::string out = folder.path() / "q.gguf";
  const Ran ran = run_assay({"quantize", embedded_model(), "-o", out, "--type", "q8_0"}, {}, closed);
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_NE(ran.err.find("standard output: cannot be written: Bad file descriptor"), std::string::npos) << ran.err;
  EXPECT_EQ(run_assay({"plan", out}).status, 0) << "the file was written before the report of it";
}

TEST(StandardError, ThatIsFullChangesNoStatus) {
  const Launch full{{"sh", "-c", "exec \"$@\" 2>/dev/full", "sh"}, ""};
  EXPECT_EQ(run_assay({"check", "no_such_op"}, {}, full).status, 2);
  EXPECT_EQ(run_assay({"run", embedded_model(), "-p", "And", "-n", "1"}, {}, full).status, 2) << "it could not say its figures";
  EXPECT_EQ(run_assay({"plan", embedded_model()}, {}, full).status, 0);
}

// What stands where the command writes; written if there is nothing yet.
std::string old_file(const Command& command) {
  if (!fs::exists(command.file)) write_content(command.file, "the old file\n");
  return file_bytes(command.file);
}

TEST(FullDisk, AFileThatMayNotGrowIsNamedAndTheOldOneStays) {
  const TemporaryFolder folder;
  for (const Command& command : writers(folder.path())) {
    const std::string old = old_file(command);
    for (const int most : {0, 1, 1000, 4096, 5000}) {
      SCOPED_TRACE(command.name + ": " + std::to_string(most));
      write_content(command.file, old);
      const Ran ran = run_assay(command.arguments, command.environment, {{"prlimit", "--fsize=" + std::to_string(most)}, ""});
      EXPECT_EQ(ran.status, 2);
      EXPECT_NE(ran.err.find("assay: " + command.file.string()), std::string::npos) << ran.err;
      EXPECT_NE(ran.err.find("File too large"), std::string::npos) << ran.err;
      EXPECT_EQ(file_bytes(command.file), old);
      EXPECT_FALSE(fs::exists(command.file.string() + ".new"));
    }
  }
}

// The limit lets its first files through: half a plugin would be refused the next time.
TEST(FullDisk, ANewPluginIsWholeOrNotThere) {
  const TemporaryFolder folder;
  const fs::path mine = folder.path() / "mine";
  int refused = 0;
  for (const int most : {0, 500, 1000, 1500, 100000}) {
    SCOPED_TRACE(most);
    const Ran ran = run_assay({"new-plugin", mine}, {}, {{"prlimit", "--fsize=" + std::to_string(most)}, ""});
    const bool written = fs::exists(mine) && !fs::is_empty(mine);
    EXPECT_EQ(ran.status, written ? 0 : 2) << ran.err;
    EXPECT_EQ(ran.err.find("File too large") == std::string::npos, written) << ran.err;
    refused += !written;
  }
  EXPECT_GE(refused, 2);
  EXPECT_LT(refused, 5);
}

TEST(Memory, ThatEndsIsAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow takes all addresses";
#endif
  int refused = 0;
  int passed = 0;
  // With less than the program's own file takes the kernel cannot load it, and kills it.
  for (int mebibytes = 14; passed < 2; mebibytes += 2) {
    ASSERT_LT(mebibytes, 4096);
    SCOPED_TRACE(std::to_string(mebibytes) + " MiB");
    const Launch limited{{"prlimit", "--as=" + std::to_string(std::int64_t{mebibytes} << 20)}, ""};
    const Ran ran = run_assay({"run", embedded_model(), "-p", "And", "-n", "1", "--threads", "2"}, {}, limited);
    if (ran.status == 127) continue;                                      // not even its libraries were loaded
    if (ran.err.starts_with("Error in GnuTLS initialization")) continue;  // or one of them could not begin
    ASSERT_TRUE(ran.status == 0 || ran.status == 2) << ran.status << ": " << ran.err;
    passed += ran.status == 0;
    refused += ran.status == 2;
    EXPECT_EQ(ran.err.empty(), false);
  }
  EXPECT_GT(refused, 0);
}

TEST(Memory, ThatEndsIsNoEmptyList) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow takes all addresses";
#endif
  const std::string whole = run_assay({"list"}).out;
  int refused = 0;
  for (int mebibytes = 30, passed = 0; passed < 2; mebibytes += 2) {
    ASSERT_LT(mebibytes, 4096);
    const Launch limited{{"prlimit", "--as=" + std::to_string(std::int64_t{mebibytes} << 20)}, ""};
    const Ran ran = run_assay({"list"}, {}, limited);
    passed += ran.status == 0;
    refused += ran.err == "assay: out of memory\n";
    EXPECT_TRUE(ran.status != 0 || ran.out == whole) << mebibytes << " MiB";
    EXPECT_EQ(ran.err.find("no HDF5 file"), std::string::npos) << ran.err;
  }
  EXPECT_GT(refused, 0);
}

TEST(SecondWriter, IsRefusedWhileTheFirstWrites) {
  const TemporaryFolder folder;
  for (const Command& command : writers(folder.path())) {
    SCOPED_TRACE(command.name);
    const std::string old = old_file(command);
    {
      AtomicFile first(command.file);
      first.write_text("half of");
      const Ran ran = run_assay(command.arguments, command.environment);
      EXPECT_EQ(ran.status, 2);
      EXPECT_EQ(ran.err, "assay: " + command.file.string() + ": is being written by another process\n");
      expect_mentions(message_of<std::runtime_error>([&] { AtomicFile second(command.file); }), {"is being written by another"});
      expect_mentions(message_of<std::runtime_error>([&] { Hdf5Writer second(command.file, Hdf5Writer::Format::v108); }),
                      {"is being written by another"});
      EXPECT_EQ(file_bytes(command.file), old);
      EXPECT_EQ(file_bytes(command.file.string() + ".new"), "half of") << "the first one's file was touched";
    }
    EXPECT_FALSE(fs::exists(command.file.string() + ".new"));
  }
}

TEST(SecondWriter, TakesOverWhatAKilledOneLeft) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a";
  write_content(folder.path() / "a.new", "what a killed writer left, longer than what comes now");
  write_file_atomically(file, "new");
  EXPECT_EQ(file_bytes(file), "new");
  write_content(folder.path() / "t.h5.new", std::string(100000, 'x'));
  const Ran ran = run_assay({"trace", "-p", "And", "-o", folder.path() / "t.h5", "--sites", "embed"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_LT(fs::file_size(folder.path() / "t.h5"), 100000U);
  EXPECT_FALSE(fs::exists(folder.path() / "t.h5.new"));
}

// Sixteen at once over one file: each writes it whole or is refused.
TEST(SecondWriter, OfManyEachWritesWholeOrIsRefused) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "words";
  std::vector<std::string> texts;
  for (const char* shell : {"bash", "zsh"}) texts.push_back(run_assay({"completion", shell}).out);
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 16; ++i) {
    const std::vector<std::string> arguments{"completion", i % 2 == 0 ? "bash" : "zsh", "-o", file};
    programs.push_back(std::make_unique<Program>(arguments));
  }
  int written = 0;
  for (const auto& program : programs) {
    const Ran ran = program->wait();
    EXPECT_TRUE(ran.status == 0 || ran.err.ends_with("is being written by another process\n")) << ran.err;
    written += ran.status == 0;
  }
  EXPECT_GE(written, 1);
  EXPECT_TRUE(file_bytes(file) == texts[0] || file_bytes(file) == texts[1]);
  EXPECT_FALSE(fs::exists(file.string() + ".new"));
}

// Two acceptances at once: neither is lost.
TEST(SecondWriter, OfTheLedgerLosesNothing) {
  const TemporaryFolder folder;
  const fs::path golden = folder.path() / "golden";
  fs::create_directories(golden / "ops");
  for (const std::string op : {"argmax", "embed_f32"})
    fs::copy_file(own_golden() / "ops" / (op + ".h5"), golden / "ops" / (op + ".h5"));
  write_content(golden / "ledger.json", R"({"schema": 1, "accepted": [], "digests": {}})");
  const std::vector<std::string> here{"ASSAY_DATA=" + folder.path().string()};
  const auto accept = [&](const char* op) {
    return std::make_unique<Program>(std::vector<std::string>{"ledger", "accept", op, "--why", "first"}, here);
  };
  const auto first = accept("argmax");
  int refusals = 0;
  for (Ran ran = accept("embed_f32")->wait(); ran.status != 0; ran = accept("embed_f32")->wait()) {
    ASSERT_NE(ran.err.find("is being written by another process"), std::string::npos) << ran.err;
    ASSERT_LT(++refusals, 1000);
  }
  for (Ran ran = first->wait(); ran.status != 0; ran = accept("argmax")->wait()) {
    ASSERT_NE(ran.err.find("is being written by another process"), std::string::npos) << ran.err;
    ASSERT_LT(++refusals, 1000);
  }
  const nlohmann::json json = nlohmann::json::parse(file_bytes(golden / "ledger.json"));
  EXPECT_EQ(json.at("digests").size(), 2U);
  EXPECT_EQ(json.at("accepted").size(), 2U);
}

// Of a device it would be the machine's: renamed over /dev/null, a file is what everybody writes into.
TEST(AtomicFile, NothingButAFileIsReplaced) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::pair<fs::path, const char*> both[] = {{pipe, "is there, and no regular file"},
                                                   {folder.path(), "is a folder; expected a file to write"}};
  for (const auto& [name, why] : both) {
    const Ran ran = run_assay({"completion", "bash", "-o", name});
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.err, "assay: " + name.string() + ": " + why + "\n");
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
}

// Ctrl-C, or the end of a session, in the middle of a file.
TEST(AtomicFile, AnInterruptedProgramLeavesNothing) {
  const TemporaryFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::vector<std::string> arguments{"synth", "--like", "qwen3-4b", "--type", "f32", "-o", folder.path() / "s.gguf"};
    Program program(arguments);
    while (!fs::exists(folder.path() / "s.gguf.new")) usleep(1000);
    usleep(50000);
    program.send(signal);
    EXPECT_EQ(program.wait().status, 128 + signal);
    EXPECT_TRUE(fs::is_empty(folder.path()));
  }
}

TEST(AtomicFile, AnInterruptedProgramLeavesNoFolder) {
  const TemporaryFolder folder;
  const std::string model = folder.path() / "model.gguf";
  ASSERT_EQ(
      run_assay({"synth", "--like", "qwen3-0.6b", "--type", "f16", "--layers", "2", "--vocab", "20000", "-o", model}).status, 0);
  Program program({"plan", model, "--c", folder.path() / "c"});
  while (!fs::exists(folder.path() / "c")) usleep(1000);
  program.send(SIGINT);
  EXPECT_EQ(program.wait().status, 128 + SIGINT);
  EXPECT_FALSE(fs::exists(folder.path() / "c"));
}

}  // namespace
}  // namespace assay::faults
