// The manners of the program: what it prints, where, and how it exits. Runs the program that ASSAY_PROGRAM names.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/verdict/data_dir.h"
#include "tests/temporary.h"

namespace assay::cli_test {
namespace {

struct Ran {
  int status = -1;
  std::string output;  // standard output, then standard error
};

Ran shell(const std::string& command) {
  Ran ran;
  std::FILE* pipe = popen(("exec 2>&1; " + command).c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) ran.output.append(buffer, got);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

std::string program() {
  const char* path = std::getenv("ASSAY_PROGRAM");
  return path == nullptr ? "assay" : std::string("'") + path + "'";
}

Ran assay(const std::string& arguments, const std::string& environment = "") {
  return shell("env -u ASSAY_ISA -u ASSAY_CHECKS -u NO_COLOR " + environment + " " + program() + " " + arguments);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// The option tables, which `assay completion` prints as JSON.
nlohmann::json command_table() {
  const Ran ran = assay("completion man --json");
  EXPECT_EQ(ran.status, 0) << ran.output;
  return nlohmann::json::parse(ran.output).at("commands");
}

TEST(Cli, AloneItSaysWhatToTypeFirst) {
  const Ran ran = assay("");
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(contains(ran.output, "assay check")) << ran.output;
}

TEST(Cli, VersionNamesCompilerIsasAndGoldenSchema) {
  const Ran ran = assay("--version");
  EXPECT_EQ(ran.status, 0);
  for (const char* part : {"assay 0.", "compiler ", "ISAs of this CPU: scalar", "golden schema 1"}) {
    EXPECT_TRUE(contains(ran.output, part)) << part << " is not in\n" << ran.output;
  }
}

TEST(Cli, EveryHelpEndsInAnExample) {
  for (const auto& command : command_table()) {
    const std::string path = command.at("command");
    const Ran ran = assay(path.substr(std::string("assay").size()) + " --help");
    EXPECT_EQ(ran.status, 0) << path;
    EXPECT_TRUE(last_line(ran.output).starts_with("Example: ")) << path << ": " << ran.output;
    EXPECT_TRUE(contains(last_line(ran.output), path)) << path << ": " << ran.output;
  }
}

TEST(Cli, UnknownNamesNameTheNearest) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"chekc", "unknown command 'chekc'; the nearest is 'check'"},
      {"ledger shwo", "unknown ledger command 'shwo'; the nearest is 'show'"},
      {"check rms_nrom", "unknown op 'rms_nrom'; the nearest is 'rms_norm'"},
      {"check relu", "unknown op 'relu', and none is near it; there are\n  "},
      {"list rms_nrom", "unknown op 'rms_nrom'; the nearest is 'rms_norm'"},
      {"bench rms_nrom", "unknown op 'rms_nrom'; the nearest is 'rms_norm'"},
      {"ledger show rms_nrom", "unknown op 'rms_nrom'; the nearest is 'rms_norm'"},
      {"check add --case zeors", "unknown case 'zeors'; the nearest is 'zeros'"},
      {"check add --isa avx3", "unknown ISA 'avx3'; the nearest is 'avx2'"},
      {"check add --ias avx2", "unknown option '--ias'; the nearest is '--isa'"},
      {"--color always check add --ias=avx2", "unknown option '--ias'; the nearest is '--isa'"},
      {"check add --checks bonud", "unknown check 'bonud'; the nearest is 'bound'"},
      {"check add --shape n=5 --data gaus", "unknown data 'gaus'; the nearest is 'gauss'"},
      {"check add --shape m=5", "'m'; the nearest is 'n'"},
      {"check add --color sometimes", "auto, always, never"},
      {"completion tcsh", "bash, zsh, fish, man"},
  };
  for (const auto& [arguments, message] : wrong) {
    const Ran ran = assay(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_TRUE(contains(ran.output, message)) << arguments << ": " << ran.output;
  }
  const Ran forced = assay("check add", "ASSAY_ISA=avx3");
  EXPECT_EQ(forced.status, 2);
  EXPECT_TRUE(contains(forced.output, "avx2")) << forced.output;
}

TEST(Cli, ExitCodes) {
  EXPECT_EQ(assay("check add").status, 0);
  EXPECT_EQ(assay("check add --tag no_such_tag").status, 2);
  EXPECT_EQ(assay("check add --cases 0").status, 2);
  EXPECT_EQ(assay("check add --isa").status, 2);
  EXPECT_EQ(assay("check --golden /nonexistent").status, 2);
  EXPECT_EQ(assay("inspect /nonexistent.h5").status, 2);
  EXPECT_EQ(assay("inspect /dev/null").status, 2);
  EXPECT_EQ(assay("ledger").status, 2);
  EXPECT_EQ(assay("ledger accept add").status, 2) << "no reason given";
  EXPECT_EQ(assay("list", "ASSAY_DATA=/nonexistent").status, 2);
}

// Every command, as one would type it; import's inputs are other engines', reduce and verify want a kernel that fails and a record of one.
std::vector<std::string> with_json(const std::filesystem::path& folder) {
  const std::string here = folder.string() + "/";
  const std::string golden = (data_dir() / "golden").string() + "/";
  return {"",
          "help",
          "help check",
          "--version",
          "list add",
          "check add",
          "check add --seed 5 --cases 2",
          "check --explain-columns",
          "ledger show add",
          "completion bash",
          "explain add --isa scalar --case refusals",
          "order matvec_f32 --isa scalar --shape k=20",
          "diff " + golden + "traces/kjv-f64.h5 " + golden + "traces/kjv-f64.h5 --prompt genesis --sites final_norm",
          "inspect " + golden + "ops/add.h5",
          "inspect " + golden + "ops/add.h5 --case zeros",
          "inspect " + golden + "traces/kjv-f64.h5",
          "inspect " + golden + "models/kjv",
          "eval --context 64",
          "run -p In -n 1",
          "run -p In -n 1 --profile",
          "run -p In --stop-at layers.00.attn",
          "plan",
          "plan --c " + here + "c",
          "audit " + golden + "models/kjv " + golden + "traces/kjv-f64.h5 --prompt genesis",
          "attribute --golden " + golden + "traces/kjv-f64.h5 --prompt genesis",
          "bisect --golden " + golden + "traces/kjv-f64.h5 --prompt genesis",
          "trace -p In -o " + here + "trace.h5",
          "extract " + here + "trace.h5 final_norm -o " + here + "case.h5",
          "quantize " + golden + "models/kjv --type q8_0 -o " + here + "q.gguf",
          "synth --like qwen3-0.6b --type q4_0 --layers 1 --vocab 512 -o " + here + "s.gguf",
          "new-plugin " + here + "mine",
          "bench add --isa scalar --shape n=512 --warm -o " + here + "bench.json",
          "check add --case refusals -o " + here + "report.json",
          "report " + here + "report.json"};
}

TEST(Cli, JsonSaysWhereItComesFrom) {
  const TemporaryFolder folder;
  nlohmann::json head;
  std::set<std::string> tried{"help", "import", "reduce", "verify"};
  for (const std::string& arguments : with_json(folder.path())) {
    const Ran ran = assay("--json " + arguments + " 2>/dev/null");
    EXPECT_LE(ran.status, 1) << arguments << ran.output;
    auto json = nlohmann::json::parse(ran.output, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << arguments << ": " << ran.output;
    tried.insert(arguments.substr(0, arguments.find(' ')));
    if (json.contains("benchmarks")) json = json.at("context");  // as Google Benchmark's files have it
    if (head.is_null()) {
      for (const char* key : {"schema", "version", "commit", "compiler", "build_type", "flags", "cpu", "isas", "golden_schema"})
        head[key] = json.at(key);
    }
    for (const auto& [key, value] : head.items()) EXPECT_EQ(json.value(key, nlohmann::json()), value) << arguments << ": " << key;
  }
  for (const auto& command : command_table()) {
    std::string name = command.at("command");
    name.erase(0, name.find(' ') == std::string::npos ? name.size() : name.find(' ') + 1);
    EXPECT_TRUE(tried.contains(name.substr(0, name.find(' ')))) << name << " has no line above";
  }
}

TEST(Cli, JsonIsUtf8WhateverAPathIs) {
  const TemporaryFolder folder;
  const std::string odd = folder.path().string() + "/n\xff";
  EXPECT_EQ(shell("cp -r '" + (data_dir() / "golden" / "ops").string() + "/add.h5' '" + odd + ".h5'").status, 0);
  for (const std::string& arguments : {"inspect '" + odd + ".h5'", "trace -p In --sites final_norm -o '" + odd + "'",
                                       "check add --isa scalar --case zeros --golden '" + odd + ".h5'"}) {
    const Ran ran = assay(arguments + " --json 2>/dev/null");
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_FALSE(nlohmann::json::parse(ran.output, nullptr, false).is_discarded()) << ran.output;
  }
}

TEST(Cli, MadeCasesHaveTheirSeed) {
  const auto made = nlohmann::json::parse(assay("check add --data gauss --seed 5 --cases 2 --json").output);
  for (const auto& one : made.at("cases")) EXPECT_TRUE(one.contains("seed"));
}

// The names of the cases that one variant of add ran.
std::vector<std::string> cases_of(const std::string& options) {
  std::vector<std::string> names;
  const auto json = nlohmann::json::parse(assay("check add --isa scalar --json " + options).output);
  for (const auto& one : json.at("cases")) names.push_back(one.at("case"));
  return names;
}

TEST(Cli, OptionsOfMadeCasesCount) {
  const std::vector<std::string> three = cases_of("--shape n=33 --seed 5 --cases 3");
  ASSERT_EQ(three.size(), 3U);
  EXPECT_TRUE(contains(three[0], "seed 5")) << three[0];
  EXPECT_TRUE(contains(three[2], "seed 7")) << three[2];
  EXPECT_EQ(cases_of("--shape n=33 --cases 4 --shard 1/2").size(), 2U);
}

TEST(Cli, TheEnvironmentsChecksAreThoseAskedFor) {
  EXPECT_TRUE(contains(assay("check add --isa scalar --shape n=33", "ASSAY_CHECKS=guard").output, "checks off"));
  EXPECT_EQ(assay("check add", "ASSAY_CHECKS=guardian").status, 2);
}

TEST(Cli, AReportOfFailuresFails) {
  const char* const temporary = std::getenv("TMPDIR");
  const std::string file =
      std::string(temporary == nullptr ? "/tmp" : temporary) + "/assay_cli_report_" + std::to_string(getpid()) + ".json";
  std::string json = assay("check add --isa scalar --shape n=33 --json").output;
  std::ofstream(file) << json;
  EXPECT_EQ(assay("report " + file).status, 0);
  const std::string passed = "\"verdict\": \"pass\"";
  ASSERT_TRUE(contains(json, passed));
  json.replace(json.find(passed), passed.size(), "\"verdict\": \"fail\"");
  std::ofstream(file) << json;
  EXPECT_EQ(assay("report " + file).status, 1);
  std::remove(file.c_str());
}

TEST(Cli, AnIsaThatThisCpuLacksIsRefused) {
  const auto isas = nlohmann::json::parse(assay("list --json").output).at("isas").get<std::set<std::string>>();
  for (const std::string isa : {"amx_int8", "avxvnni", "avx512vnni"}) {
    if (isas.contains(isa)) continue;
    EXPECT_EQ(assay("check add --isa " + isa).status, 2) << isa;
    return;
  }
}

TEST(Cli, NoEscapesOffATerminal) {
  EXPECT_FALSE(contains(assay("list").output, "\033"));
  EXPECT_FALSE(contains(assay("check add").output, "\033"));
  EXPECT_TRUE(contains(assay("list --color always").output, "\033["));
  EXPECT_FALSE(contains(assay("check add --color never").output, "\033"));
}

TEST(Cli, ColourOnATerminalUnlessToldNot) {
  if (shell("command -v script").status != 0) GTEST_SKIP() << "no script(1) to make a terminal";
  const auto on_terminal = [](const std::string& environment, const std::string& arguments) {
    return shell("env -u NO_COLOR " + environment + " script -qec \"" + program() + " " + arguments + "\" /dev/null </dev/null")
        .output;
  };
  EXPECT_TRUE(contains(on_terminal("TERM=xterm", "list"), "\033["));
  EXPECT_FALSE(contains(on_terminal("TERM=xterm NO_COLOR=1", "list"), "\033"));
  EXPECT_FALSE(contains(on_terminal("TERM=xterm", "list --color never"), "\033"));
  for (const char* dumb : {"TERM=dumb", "TERM=", "-u TERM"}) {
    const std::string text = on_terminal(dumb, "check add --isa scalar --case refusals");
    EXPECT_TRUE(contains(text, "PASS")) << text;
    EXPECT_FALSE(contains(text, "\033")) << dumb << text;
  }
}

TEST(Cli, CompletionsKnowOpsAndParse) {
  for (const char* shell_name : {"bash", "zsh", "fish"}) {
    const std::string print = std::string("completion ") + shell_name;
    EXPECT_TRUE(contains(assay(print).output, "rms_norm")) << shell_name;
    if (shell(std::string("command -v ") + shell_name).status != 0) continue;
    const std::string parse = std::string(shell_name) + (std::string(shell_name) == "fish" ? " --no-execute" : " -n");
    const Ran ran = shell(program() + " " + print + " | " + parse);
    EXPECT_EQ(ran.status, 0) << shell_name << ": " << ran.output;
  }
  const Ran completed =
      shell("bash -c 'source <(" + program() +
            " completion bash); COMP_WORDS=(assay check rms_); COMP_CWORD=2; _assay; echo \"${COMPREPLY[@]}\"'");
  EXPECT_EQ(completed.output, "rms_norm\n");
}

TEST(Cli, TheManPageNamesEveryCommandAndOption) {
  const std::string page = assay("completion man").output;
  for (const auto& command : command_table()) {
    std::string name = command.at("command");
    if (const std::size_t hyphen = name.find('-'); hyphen != std::string::npos) name.insert(hyphen, "\\");
    EXPECT_TRUE(contains(page, ".SS " + name) || name == "assay") << name;
  }
  EXPECT_TRUE(contains(page, "\\fB\\-\\-checks\\fR"));
}

}  // namespace
}  // namespace assay::cli_test
