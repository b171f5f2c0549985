// Every option of every command, as the option tables have them, with values that it may not have: each is refused in one line that names
// option, value and what is expected. An option that comes new is tried here by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/verdict/data_dir.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::option_values_test {
namespace {

using Json = nlohmann::json;

struct Option {
  std::string command;
  std::string name;
  std::string kind;  // of its value: whole, seed, real, words, file, text
};

const Json& table() {
  static const Json commands = Json::parse(run_assay({"completion", "man", "--json"}).out).at("commands");
  return commands;
}

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::istringstream in(command);
  for (std::string word; in >> word;) words.push_back(word);
  words.erase(words.begin());  // assay
  return words;
}

// What a command needs before its options are looked at one by one.
std::vector<std::string> required(const Json& command, const std::string& but) {
  std::vector<std::string> words;
  for (const char* list : {"positionals", "options"}) {
    for (const Json& option : command.at(list)) {
      const std::string name = option.at("names").back();
      if (!option.at("required").get<bool>() || name == but) continue;
      if (name.starts_with("--")) words.push_back(name);
      const Json& choices = option.at("words");
      words.push_back(choices.empty() ? "x" : choices.front().get<std::string>());
    }
  }
  return words;
}

std::vector<Option> options() {
  std::vector<Option> all;
  for (const Json& command : table()) {
    for (const Json& option : command.at("options")) {
      if (!option.at("value").get<std::string>().empty())
        all.push_back({command.at("command"), option.at("names").back(), option.at("kind")});
    }
  }
  return all;
}

Ran run_with(const Option& option, const std::string& value) {
  std::vector<std::string> words = words_of(option.command);
  const auto command =
      std::ranges::find(table(), option.command, [](const Json& one) { return one.at("command").get<std::string>(); });
  const std::vector<std::string> needed = required(*command, option.name);
  words.insert(words.end(), needed.begin(), needed.end());
  if (value.empty()) {
    words.insert(words.end(), {option.name, value});
  } else {
    words.push_back(option.name + "=" + value);
  }
  return run_assay(words);
}

void expect_told(const Option& option, const std::string& value) {
  const Ran ran = run_with(option, value);
  const std::string where = option.command + " " + option.name + "='" + value + "': ";
  EXPECT_EQ(ran.status, 2) << where << ran.out << ran.err;
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << where << ran.err;
  for (const std::string& part : {option.name, "'" + value + "'", std::string("expected ")})
    EXPECT_NE(ran.err.find(part), std::string::npos) << where << ran.err;
  for (const char* words : {"json.exception", "bad_alloc", "filesystem error", "stoi", "Could not convert", "std::"})
    EXPECT_EQ(ran.err.find(words), std::string::npos) << where << ran.err;
}

TEST(OptionValues, TheTablesHaveThemAll) {
  std::map<std::string, int> kinds;
  for (const Option& option : options()) ++kinds[option.kind];
  for (const char* kind : {"whole", "seed", "real", "words", "file", "text"}) EXPECT_GT(kinds[kind], 0) << kind;
}

TEST(OptionValues, EmptyOnesAreRefused) {
  for (const Option& option : options()) expect_told(option, "");
}

TEST(OptionValues, NumbersAreNumbers) {
  for (const Option& option : options()) {
    if (option.kind != "whole" && option.kind != "seed" && option.kind != "real") continue;
    for (const char* value : {"nan", "inf", "x", "1x", "0x10", "1e999", "99999999999999999999", "/tmp", "--", " 1"}) {
      if (option.kind == "real" && std::string(value) == "99999999999999999999") continue;  // a number
      expect_told(option, value);
    }
    if (option.kind != "real") {
      expect_told(option, "1.5");
      expect_told(option, "-1");
    }
  }
}

TEST(OptionValues, WordsAreThoseThereAre) {
  for (const Option& option : options()) {
    if (option.kind == "words") expect_told(option, "no_such_word");
  }
}

TEST(OptionValues, NoFileIsADash) {
  for (const Option& option : options()) {
    if (option.kind == "file") expect_told(option, "-");
  }
}

TEST(OptionValues, OfOneThatIsLeftOutItIsSaid) {
  const Ran ran = run_assay({"check", "add", "--isa"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "assay: --isa: its value is missing\n");
  EXPECT_EQ(run_assay({"check", "add", "--golden="}).err, "assay: --golden: its value is missing\n");
  EXPECT_EQ(run_assay({"check", "add", "--json=maybe"}).err, "assay: --json: takes no value\n");
  EXPECT_EQ(run_assay({"check", "add", "-q", "-v"}).err, "assay: --quiet and --verbose do not go together\n");
  EXPECT_EQ(run_assay({"run", "-p", "x", "--system", "y"}).err, "assay: --system is of --chat, which is missing\n");
  EXPECT_EQ(run_assay({"check", "add", "--jobs", "0"}).err, "assay: --jobs: '0'; expected a whole number, at least 1\n");
}

// A second value is no better than none: which of them is meant?
TEST(OptionValues, OneThatIsTakenOnceIsGivenOnce) {
  for (const auto& command : table()) {
    for (const Json& option : command.at("options")) {
      if (option.at("value").get<std::string>().empty() || option.at("repeated").get<bool>()) continue;
      const std::string name = option.at("names").back();
      std::vector<std::string> words = words_of(command.at("command"));
      const std::vector<std::string> needed = required(command, name);
      words.insert(words.end(), needed.begin(), needed.end());
      const std::string value = option.at("words").empty() ? "1" : option.at("words").front().get<std::string>();
      words.insert(words.end(), {name, value, name, value});
      const Ran ran = run_assay(words);
      EXPECT_EQ(ran.status, 2) << command.at("command") << name;
      EXPECT_EQ(ran.err, "assay: " + name + ": is given twice; expected once\n") << command.at("command");
    }
  }
}

TEST(OptionValues, WhatIsMissingIsNamedWithWhatItIs) {
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"diff", "a"}, "diff: theirs is missing: The trace it is measured against, B"},
           {{"completion"}, "completion: what is missing: The shell, or man"},
           {{"ledger", "accept", "add"}, "accept: --why is missing: The reason, for those who read the diff"},
           {{"ledger"}, "ledger: its command is missing; expected one of show, accept"},
           {{"explain"}, "explain: op is missing: Ops to explain, or patterns such as 'gemm_*'"},
           {{"check", "add", "--cases", "99999999999"}, "--cases: '99999999999'; expected a whole number, at most 2147483647"},
           {{"check", "add", "--shape", "n=7,n=8"}, "--shape: n is given twice; expected once"},
           {{"check", "add", "--shape", "n=inf"}, "--shape: n is 'inf'; expected a finite number"},
       }) {
    const Ran ran = run_assay(words);
    EXPECT_EQ(ran.status, 2) << message;
    EXPECT_EQ(ran.err, "assay: " + message + "\n");
  }
}

// Values that are well formed and mean nothing.
TEST(OptionValues, MeaninglessOnesAreRefused) {
  const TemporaryFolder folder;
  const std::string empty = folder.path().string();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"check", "add", "--checks", ","},
           {"check", "add", "--checks", "bound,"},
           {"check", "add", "--shape", ","},
           {"check", "add", "--shape", "n=nan"},
           {"check", "add", "--shape", "n=-1"},
           {"check", "add", "--shape", "n=1e30"},
           {"check", "add", "--shape", "n=99999999999999999999"},
           {"check", "add", "--isa", ","},
           {"check", "add", "--golden", empty},
           {"check", "add", "--golden", "/dev/null"},
           {"check", "add", "--plugin", empty},
           {"check", "add", "--tag", "no_such_tag"},
           {"check", "add", "--runner", " "},
           {"check", "add", "--ledger", empty},
           {"check", "add", "-o", empty},
           {"check", "add", "--shard", "0/2"},
           {"list", "add", "--plugin", empty},
           {"bench", "add", "--baseline", empty},
           {"bench", "add", "--shape", "n=0x"},
           {"run", empty, "-p", "x"},
           {"plan", empty},
           {"eval", empty},
           {"diff", empty, empty},
           {"report", empty},
           {"inspect", empty},
       }) {
    const Ran ran = run_assay(words);
    std::string all;
    for (const std::string& word : words) all += word + " ";
    EXPECT_EQ(ran.status, 2) << all << ran.out << ran.err;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << all << ran.err;
  }
}

}  // namespace
}  // namespace assay::option_values_test
