// What commands write never destroys: not what they read, not a file of another kind, not what a link hides.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "golden/read_file.h"
#include "harness/verdict/data_dir.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::outputs_test {
namespace {

namespace fs = std::filesystem;

const std::string kMine = "what somebody wrote himself\n";

struct Writer {
  std::string command;
  std::vector<std::string> words;  // the output's name comes behind them
  std::string option;
};

// A report to read, made once.
std::string report() {
  static const TemporaryFolder folder;
  const std::string file = (folder.path() / "report.json").string();
  if (!fs::exists(file)) run_assay({"check", "add", "--case", "refusals", "-o", file});
  return file;
}

std::string golden(const std::string& name) {
  return (data_dir() / "golden" / name).string();
}

// Every option of every command that names a file to write.
std::vector<Writer> writers() {
  return {
      {"assay check", {"check", "add", "--case", "refusals", "-o"}, "--output"},
      {"assay bench", {"bench", "add", "--isa", "scalar", "--shape", "n=512", "--warm", "-o"}, "--output"},
      {"assay check", {"check", "add", "--case", "refusals", "--junit"}, "--junit"},
      {"assay check", {"check", "add", "--case", "refusals", "--sarif"}, "--sarif"},
      {"assay check", {"check", "add", "--case", "refusals", "--summary"}, "--summary"},
      {"assay completion", {"completion", "bash", "-o"}, "--output"},
      {"assay diff", {"diff", golden("traces/kjv-hf-f32.h5"), golden("traces/kjv-f64.h5"), "--html"}, "--html"},
      {"assay order", {"order", "matvec_f32", "--isa", "scalar", "--shape", "k=20", "--svg"}, "--svg"},
      {"assay report", {"report", report(), "-o"}, "--html"},
      {"assay quantize", {"quantize", golden("models/kjv"), "--type", "q8_0", "-o"}, "--output"},
      {"assay synth", {"synth", "--like", "qwen3-0.6b", "--type", "q4_0", "--layers", "1", "--vocab", "512", "-o"}, "--output"},
      {"assay trace", {"trace", "-p", "In the beginning", "--sites", "final_norm", "-o"}, "--output"},
      {"assay extract", {"extract", golden("traces/kjv-f64.h5"), "final_norm", "-o"}, "--output"},
  };
}

// Those whose input no test here has, written by the same code: a trace's writer, extract's, a record that is bench's; and a folder
// (NewFoldersAreNew).
const std::set<std::string> kSameWriter{"assay import llama.cpp --output",
                                        "assay import hf --output",
                                        "assay import npz --output",
                                        "assay import safetensors --output",
                                        "assay reduce --output",
                                        "assay bench --record",
                                        "assay reduce --c",
                                        "assay plan --c"};

std::string plugin(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / (name + ".so")).string();
}

Ran write_to(const Writer& writer, const fs::path& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words(writer.words);
  words.push_back(file.string());
  words.insert(words.end(), more.begin(), more.end());
  return run_assay(words);
}

void expect_refused(const Ran& ran, const std::string& name, const std::string& words) {
  EXPECT_EQ(ran.status, 2) << name << ": " << ran.err;
  EXPECT_NE(ran.err.find(words), std::string::npos) << name << ": " << ran.err;
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << name << ": " << ran.err;
}

TEST(Outputs, EveryOptionThatWritesIsTriedHere) {
  std::set<std::string> tried(kSameWriter);
  for (const Writer& writer : writers()) tried.insert(writer.command + " " + writer.option);
  const auto table = nlohmann::json::parse(run_assay({"completion", "man", "--json"}).out);
  for (const auto& command : table.at("commands")) {
    for (const auto& option : command.at("options")) {
      for (const std::string name : option.at("names")) {
        const bool writes =
            option.at("kind") == "file" && option.at("description").get<std::string>().find("rite") != std::string::npos;
        if (!writes || !name.starts_with("--")) continue;
        EXPECT_TRUE(tried.contains(command.at("command").get<std::string>() + " " + name)) << command.at("command") << name;
      }
    }
  }
}

TEST(Outputs, AFileOfAnotherKindIsLeftUnlessForced) {
  for (const Writer& writer : writers()) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "mine.txt";
    std::ofstream(file) << kMine;
    expect_refused(write_to(writer, file), writer.command, "--force");
    EXPECT_EQ(read_file(file), kMine) << writer.command;
    const Ran forced = write_to(writer, file, {"--force"});
    EXPECT_LE(forced.status, 1) << writer.command << ": " << forced.err;
    EXPECT_NE(read_file(file), kMine) << writer.command;
    const Ran again = write_to(writer, file);
    EXPECT_LE(again.status, 1) << writer.command << " does not replace its own file: " << again.err;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << writer.command;
  }
}

// Whoever mentions assay is not assay: somebody's settings, notes and ledgers.
TEST(Outputs, SomebodysFileThatNamesAssayIsHis) {
  const std::vector<std::pair<std::string, std::string>> his{
      {"--summary", "# My kernels\nChecked by assay; see `assay check --help`.\n"},
      {"--junit", "<project name=\"mine\"><uses>assay</uses></project>\n"},
      {"-o", "{\"name\": \"mine\", \"scripts\": {\"check\": \"assay check\"}}\n"},
      {"-o", "{\n \"schema\": 1,\n \"accepted\": [],\n \"digests\": {}}\n"},
      {"--sarif", "{\"runs\": [{\"tool\": {\"driver\": {\"name\": \"another\"}}}], \"note\": \"assay\"}\n"}};
  for (const auto& [option, text] : his) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "file";
    std::ofstream(file) << text;
    expect_refused(run_assay({"check", "add", "--case", "refusals", option, file.string()}), option + text, "not overwritten");
    EXPECT_EQ(read_file(file), text);
  }
  const TemporaryFolder folder;
  const fs::path startup = folder.path() / ".bashrc";
  std::ofstream(startup) << "source <(assay completion bash)\n";
  expect_refused(run_assay({"completion", "bash", "-o", startup.string()}), "completion", "not overwritten");
}

TEST(Outputs, AFileIsOneOutputAndNotWhatIsPrintedTo) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "out";
  expect_refused(run_assay({"check", "add", "--case", "refusals", "-o", file.string(), "--junit", file.string()}), "twice",
                 "is being written by another output of this command");
  EXPECT_FALSE(fs::exists(file));
  expect_refused(run_assay({"check", "add", "--case", "refusals", "--summary", "/dev/stdout"}), "a pipe",
                 "/dev/stdout: is there, and no regular file");
  std::ofstream(file) << "";
  Launch into_file;
  into_file.out = file.string();
  for (const char* same : {"/dev/stdout", "/proc/self/fd/1", file.c_str()})
    expect_refused(run_assay({"check", "add", "--case", "refusals", "--summary", same}, {}, into_file), same, "prints to");
}

// What may not be written is told before the work: the kernel, which would say so, has not run.
TEST(Outputs, AreLookedAtBeforeTheWork) {
  const std::string prints = plugin("bad_plugin");
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "mine.txt";
  std::ofstream(file) << kMine;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"check", "rms_norm", "-o"},
           {"check", "rms_norm", "--junit"},
           {"check", "rms_norm", "--sarif"},
           {"check", "rms_norm", "--summary"},
           {"bench", "rms_norm", "-o"},
           {"bench", "rms_norm", "--record"},
           {"order", "rms_norm", "--shape", "n=20,rows=1", "--svg"},
           {"reduce", "rms_norm", "-o"},
           {"reduce", "rms_norm", "--c"},
       }) {
    std::vector<std::string> all(words);
    all.insert(all.end(), {file.string(), "--plugin", prints, "--variant", "bad:prints"});
    expect_refused(run_assay(all), words[0] + words.back(), "not overwritten");
  }
}

TEST(Outputs, LinksAreFollowed) {
  for (const Writer& writer : writers()) {
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "there");
    const fs::path link = folder.path() / "link";
    fs::create_symlink("there/file", link);
    EXPECT_LE(write_to(writer, link).status, 1) << writer.command;
    EXPECT_TRUE(fs::is_symlink(link)) << writer.command;
    EXPECT_TRUE(fs::is_regular_file(folder.path() / "there" / "file")) << writer.command;
  }
}

TEST(Outputs, PipesFoldersAndDevicesAreRefused) {
  for (const Writer& writer : writers()) {
    const TemporaryFolder folder;
    const fs::path pipe = folder.path() / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expect_refused(write_to(writer, pipe), writer.command, "no regular file");
    expect_refused(write_to(writer, folder.path()), writer.command, "is a folder");
    expect_refused(write_to(writer, "/dev/zero"), writer.command, "no regular file");
    expect_refused(write_to(writer, "-"), writer.command, "expected the name of a file");
  }
}

TEST(Outputs, WhatIsReadIsNotWritten) {
  const TemporaryFolder folder;
  const fs::path trace = folder.path() / "trace.h5";
  fs::copy_file(golden("traces/kjv-f64.h5"), trace);
  fs::create_hard_link(trace, folder.path() / "other.h5");
  fs::create_symlink("trace.h5", folder.path() / "link.h5");
  const std::string before = read_file(trace);
  for (const fs::path& out : {trace, folder.path() / "other.h5", folder.path() / "link.h5", folder.path() / "." / "trace.h5"}) {
    expect_refused(run_assay({"extract", trace.string(), "final_norm", "-o", out.string()}), out.string(),
                   "is read by this command");
    expect_refused(run_assay({"trace", "--golden", trace.string(), "--sites", "final_norm", "-o", out.string()}), out.string(),
                   "is read by this command");
  }
  EXPECT_EQ(read_file(trace), before);
  const fs::path json = folder.path() / "report.json";
  fs::copy_file(report(), json);
  expect_refused(run_assay({"report", json.string(), "-o", json.string()}), "report", "is read by this command");
}

TEST(Outputs, NewFoldersAreNew) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "mine") << kMine;
  EXPECT_EQ(run_assay({"plan", "--c", folder.path().string()}).status, 2);
  EXPECT_EQ(run_assay({"new-plugin", folder.path().string()}).status, 2);
  EXPECT_EQ(read_file(folder.path() / "mine"), kMine);
}

// What never ends, or begins only when somebody writes, is refused before it is opened.
TEST(Inputs, PipesAndDevicesAreRefusedByKind) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string out = (folder.path() / "out").string();
  for (const std::string& input : {pipe.string(), std::string("/dev/zero")}) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"report", input},
             {"inspect", input},
             {"verify", input},
             {"diff", input, input},
             {"diff", golden("traces/kjv-f64.h5"), input},
             {"extract", input, "final_norm", "-o", out},
             {"audit", golden("models/kjv"), input},
             {"attribute", "--golden", input},
             {"bisect", "--golden", input},
             {"trace", "--golden", input, "-o", out},
             {"eval", input},
             {"eval", "--against", input},
             {"run", input, "-p", "x"},
             {"plan", input},
             {"quantize", input, "--type", "q8_0", "-o", out},
             {"check", "add", "--golden", input},
             {"ledger", "show", "--ledger", input},
             {"bench", "add", "--baseline", input},
         }) {
      const Ran ran = run_assay(words);
      EXPECT_EQ(ran.status, 2) << words[0] << ": " << ran.err;
      EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << words[0] << ": " << ran.err;
      EXPECT_NE(ran.err.find(input), std::string::npos) << words[0] << ": " << ran.err;
    }
  }
  EXPECT_FALSE(fs::exists(out));
}

TEST(Outputs, AnInterruptedBenchSaysWhatItKnows) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "times.json";
  Program program({"bench", "add", "rms_norm", "softmax", "--runs", "25", "-o", file.string()});
  while (!fs::exists(file.string() + ".new")) usleep(1000);
  program.send(SIGINT);
  const Ran ran = program.wait();
  EXPECT_EQ(ran.status, 128 + SIGINT) << ran.err;
  EXPECT_NE(ran.out.find("interrupted: "), std::string::npos) << ran.out;
  EXPECT_TRUE(nlohmann::json::parse(read_file(file)).at("interrupted")) << "what was timed is there";
}

}  // namespace
}  // namespace assay::outputs_test
