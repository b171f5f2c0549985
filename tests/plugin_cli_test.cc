// --plugin, --runner and what goes with them, as typed: output, JSON and exit codes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "golden/atomic_file.h"
#include "golden/read_file.h"
#include "harness/verdict/suite.h"
#include "kernels/isa.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::plugin_cli_test {
namespace {

std::filesystem::path tests_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::string plugin(const std::string& name) {
  return (tests_folder() / (name + ".so")).string();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::vector<std::string> kSmall{"check", "rms_norm", "--shape", "rows=3,n=40"};

std::vector<std::string> small(std::vector<std::string> more) {
  more.insert(more.begin(), kSmall.begin(), kSmall.end());
  return more;
}

TEST(PluginCli, ExitCodes) {
  EXPECT_EQ(run_assay(small({"--plugin", plugin("bad_plugin"), "--variant", "bad:good"})).status, 0);
  EXPECT_EQ(run_assay(small({"--plugin", plugin("bad_plugin"), "--variant", "bad:throws"})).status, 1);
  const Ran refused = run_assay(small({"--plugin", plugin("unloadable_WRONG_ABI")}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(contains(refused.err, "is of plugin ABI 99; expected 2")) << refused.err;
  EXPECT_EQ(run_assay(small({"--plugin", "/nonexistent.so"})).status, 2);
  EXPECT_EQ(run_assay(small({"--runner", "exit 3"})).status, 2);
  EXPECT_EQ(run_assay(small({"--ledger", "x.json"})).status, 2) << "a ledger without a plugin";
  EXPECT_EQ(run_assay({"check", "add", "--variant", "add_sclar"}).status, 2);
}

TEST(PluginCli, PluginsOfTheEnvironmentAndItsOwnProcessAreSaid) {
  const Ran ran = run_assay(small({"--variant", "bad:good"}), {"ASSAY_PLUGINS=:" + plugin("bad_plugin")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "rms_norm bad:good")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "plugin bad 1.0 (" + plugin("bad_plugin") + "), in a process of its own")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "run by assay-runner on ")) << ran.out;
}

TEST(PluginCli, WhatAPluginPrintsIsNoPartOfTheReport) {
  const Ran ran = run_assay(small({"--plugin", plugin("bad_plugin"), "--variant", "bad:prints", "--json"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "hello from a kernel"));
  const auto report = nlohmann::json::parse(ran.out);
  EXPECT_EQ(report["cases"][0]["stability"], "stable");
  EXPECT_EQ(report["plugins"][0]["name"], "bad");
}

TEST(PluginCli, OurKernelsRunElsewhere) {
  const std::string runner = (tests_folder().parent_path() / "assay-runner").string();
  const Ran ran = run_assay({"check", "attn_decode_f32", "--isa", "scalar", "--runner", runner, "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto report = nlohmann::json::parse(ran.out);
  ASSERT_FALSE(report["cases"].empty());
  for (const auto& one : report["cases"]) EXPECT_EQ(one["variant"], "attn_decode_f32_scalar");
  EXPECT_TRUE(report["cases"][0]["in_ledger"]) << "no digest was compared";
  EXPECT_TRUE(contains(report["cases"][0]["repro"], "--runner " + runner));
}

TEST(PluginCli, ListNamesTheirKernels) {
  const Ran table = run_assay({"list", "rms_norm", "--plugin", plugin("bad_plugin")});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(contains(table.out, "bad:good")) << table.out;
  const Ran ran = run_assay({"list", "rms_norm", "--plugin", plugin("bad_plugin"), "--json"});
  const auto report = nlohmann::json::parse(ran.out);
  bool found = false;
  for (const auto& one : report["ops"][0]["variants"]) {
    found = found || (one["name"] == "bad:packed" && one["claim"] == "bounded" && one["packed"] == "w");
  }
  EXPECT_TRUE(found) << ran.out;
}

TEST(PluginCli, TraitsAreListed) {
  const Ran table = run_assay({"list", "rms_norm", "--plugin", plugin("traits_plugin")});
  EXPECT_TRUE(contains(table.out, "rms_norm traits:over_read_declared declares over-read=16\n")) << table.out;
  const Ran ran = run_assay({"list", "rms_norm", "--plugin", plugin("traits_plugin"), "--json"});
  const auto json = nlohmann::json::parse(ran.out);
  for (const auto& one : json["ops"][0]["variants"]) {
    const std::size_t declared = one["name"] == "traits:idle" ? 4 : 0;
    EXPECT_GE(one.value("traits", nlohmann::json::object()).size(), declared) << ran.out;
  }
}

TEST(PluginCli, TraitsStandBesideTimes) {
  const Ran ran = run_assay({"bench", "rms_norm", "--shape", "rows=2,n=64", "--warm", "--json", "--plugin",
                             plugin("traits_plugin"), "--variant", "traits:over_read_declared"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out)["benchmarks"][0]["traits"]["over-read"], "16") << ran.out;
}

TEST(PluginCli, AnOwnersLedgerIsWrittenAndCompared) {
  const TemporaryFolder folder;
  const std::string ledger = (folder.path() / "ledger.json").string();
  const std::vector<std::string> of_add{"add", "--plugin", plugin("bad_plugin"), "--ledger", ledger};
  std::vector<std::string> accept{"ledger", "accept"};
  accept.insert(accept.end(), of_add.begin(), of_add.end());
  accept.insert(accept.end(), {"--why", "first"});
  const Ran accepted = run_assay(accept);
  EXPECT_EQ(accepted.status, 0) << accepted.err;
  EXPECT_TRUE(contains(accepted.out, "add bad:canonical ")) << accepted.out;
  std::vector<std::string> check{"check"};
  check.insert(check.end(), of_add.begin(), of_add.end());
  const Ran checked = run_assay(check);
  EXPECT_EQ(checked.status, 0) << checked.out;
  EXPECT_TRUE(contains(checked.out, " 0 not in the ledger")) << checked.out;
  EXPECT_EQ(run_assay({"ledger", "accept", "rms_norm", "--plugin", plugin("bad_plugin"), "--why", "x"}).status, 2)
      << "whose ledger?";
  EXPECT_EQ(run_assay({"ledger", "accept", "add", "--ledger", ledger, "--why", "x"}).status, 2) << "whose kernels?";
  EXPECT_TRUE(contains(run_assay({"ledger", "show", "--ledger", ledger}).out, "add bad:canonical"));
}

TEST(PluginCli, BenchTimesWhatPassesBesideOurs) {
  const Ran ran = run_assay({"bench", "add", "--shape", "n=512", "--warm", "--plugin", plugin("bad_plugin"), "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto one = nlohmann::json::parse(ran.out)["benchmarks"][0];
  EXPECT_EQ(one["variant"], "bad:canonical");
  EXPECT_GT(one["speed"], 0.0);
  EXPECT_GT(one["wall_time"], 0.0);
  EXPECT_EQ(one["threads_seen"], 1);
  EXPECT_TRUE(contains(one["rival"], "add_")) << ran.out;
}

// The plugin's kernel of matvec_f32, which comes before, has the same name.
TEST(PluginCli, BenchTimesTheKernelOfTheOp) {
  const Ran ran = run_assay({"bench", "rms_norm", "--plugin", plugin("declared_plugin"), "--variant", "declared:one_declared",
                             "--shape", "rows=3,n=64", "--warm"});
  EXPECT_EQ(ran.status, 0) << ran.out;
}

TEST(PluginCli, WhoClaimsOurBitsIsHeldToOurLedger) {
  const TemporaryFolder data;
  const std::filesystem::path golden = data.path() / "golden";
  std::filesystem::create_directories(golden / "ops");
  std::filesystem::copy_file(own_golden() / "ops" / "add.h5", golden / "ops" / "add.h5");
  auto ledger = nlohmann::json::parse(read_file(ledger_path()));
  ledger["digests"]["add"]["n17"] = "00112233445566778899aabbccddeeff";
  write_file_atomically(golden / "ledger.json", ledger.dump());
  const Ran ran = run_assay({"check", "add", "--plugin", plugin("bad_plugin"), "--variant", "bad:canonical", "--case", "n17"},
                            {"ASSAY_DATA=" + data.path().string()});
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "the ledger has 00112233445566778899aabbccddeeff")) << ran.out;
}

TEST(PluginCli, ARecordedRunIsVerified) {
  const TemporaryFolder folder;
  const std::string record = (folder.path() / "run.json").string();
  const std::vector<std::string> of_bad{"--plugin", plugin("bad_plugin")};
  std::vector<std::string> words{"bench", "add", "--shape", "n=512", "--warm", "--record", record};
  words.insert(words.end(), of_bad.begin(), of_bad.end());
  ASSERT_EQ(run_assay(words).status, 0);
  const auto verify = [&](const std::string& file) { return run_assay({"verify", file, "--plugin", plugin("bad_plugin")}); };
  EXPECT_EQ(verify(record).status, 0);
  auto json = nlohmann::json::parse(read_file(record));
  const std::string its_file = std::exchange(json["plugins"][0]["sha256"], "0");
  write_file_atomically(record, json.dump());
  const Ran another = verify(record);  // which gives the same outputs
  EXPECT_EQ(another.status, 1);
  EXPECT_TRUE(contains(another.out, "is another file than the record's")) << another.out;
  json["plugins"][0]["sha256"] = its_file;
  json["benchmarks"][0]["seed"] = json["benchmarks"][0]["seed"].get<std::uint64_t>() + 1;
  write_file_atomically(record, json.dump());
  const Ran other = verify(record);
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(contains(other.out, "outputs differ")) << other.out;
  json.erase("plugins");
  write_file_atomically(record, json.dump());
  EXPECT_EQ(verify(record).status, 2);
  EXPECT_EQ(run_assay({"bench", "add", "--record", record}).status, 2) << "of our own kernels there is nothing to record";
}

TEST(PluginCli, BenchTimesOwnLayoutsAndRefusesWhatFails) {
  const auto bench = [](const std::string& variant, const std::vector<std::string>& more) {
    std::vector<std::string> words{"bench",  "rms_norm", "--shape",  "rows=2,n=64",
                                   "--warm", "--json",   "--plugin", plugin("bad_plugin")};
    words.insert(words.end(), {"--variant", variant});
    words.insert(words.end(), more.begin(), more.end());
    return run_assay(words);
  };
  for (const char* variant : {"bad:packed", "bad:prints"}) {
    const Ran ran = bench(variant, {});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto report = nlohmann::json::parse(ran.out);
    EXPECT_GT(report["benchmarks"][0].value("speed", 0.0), 0.0) << ran.out;
    // It names no ISA, and may use what this CPU has.
    const bool narrow =
        isa_supported(Isa::avx2) && contains(report["benchmarks"][0].value("compute_roof_loop", "none, 128 bits"), "128 bits");
    EXPECT_FALSE(narrow) << ran.out;
  }
  const Ran refused = bench("bad:many_ulp", {});
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(contains(refused.out, "has not passed: see `assay check rms_norm --plugin")) << refused.out;
  EXPECT_TRUE(contains(refused.out, "; to time it all the same: --checks guard")) << refused.out;
  const Ran told = bench("bad:many_ulp", {"--checks", "guard"});
  EXPECT_EQ(told.status, 0) << told.out;
  EXPECT_TRUE(contains(told.err, "checks off: classes,bound")) << told.err;
  EXPECT_EQ(bench("bad:no_such", {}).status, 2);
}

TEST(PluginCli, ANewPluginIsWrittenOnceAndIntoANewFolder) {
  const TemporaryFolder folder;
  const std::string mine = (folder.path() / "mine").string();
  const Ran ran = run_assay({"new-plugin", mine, "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out)["name"], "mine");
  for (const char* file : {"CMakeLists.txt", "kernel.cc", "README.md"}) {
    EXPECT_TRUE(std::filesystem::file_size(folder.path() / "mine" / file) > 100) << file;
  }
  EXPECT_EQ(run_assay({"new-plugin", mine}).status, 2);
  EXPECT_EQ(run_assay({"new-plugin", (folder.path() / "a b").string()}).status, 2);
}

}  // namespace
}  // namespace assay::plugin_cli_test
