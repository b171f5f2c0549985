// A plugin's kernels at a model's sites, as a user asks for them: run, trace, attribute, bisect.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/trace.h"
#include "tests/engine_support.h"
#include "tests/program.h"

namespace assay::plugin_sites_test {
namespace {

using Words = std::vector<std::string>;

std::string plugin() {
  return std::getenv("ASSAY_SITE_PLUGIN");
}
std::string quantised() {
  return (committed_models() / "kjv-Q4_K_M.gguf").string();
}
std::string golden() {
  return (committed_models().parent_path() / "traces" / "kjv-llama-q4_k_m.h5").string();
}

// With the plugin, and these kernels at sites.
Ran with_plugin(Words words, const Words& kernels) {
  words.insert(words.end(), {"--plugin", plugin()});
  for (const std::string& kernel : kernels) words.insert(words.end(), {"--kernel", kernel});
  return run_assay(words);
}

std::vector<std::int32_t> text_of(const Ran& ran) {
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  return json.value("tokens", std::vector<std::int32_t>());
}

void expect_refused(const Ran& ran, std::initializer_list<const char*> parts) {
  EXPECT_EQ(ran.status, 2) << ran.err;
  for (const char* const part : parts) EXPECT_NE(ran.err.find(part), std::string::npos) << part << " is not in " << ran.err;
}

TEST(PluginSites, RightKernelsGiveTheSameTextAndTheFirstLineNamesThem) {
  const Words command{"run", quantised(), "-p", "In the beginning", "-n", "12", "--json"};
  const Ran ran = with_plugin(command, {"layers.*.down_proj=site:product", "layers.03.*_norm=site:norm"});
  EXPECT_EQ(text_of(ran), text_of(run_assay(command)));
  EXPECT_TRUE(ran.err.starts_with("runs in this process: plugin site 7 (" + plugin())) << ran.err;
}

TEST(PluginSites, TheEnvironmentNamesPluginsToo) {
  const Ran ran = run_assay({"run", quantised(), "-p", "a", "-n", "1", "--json", "--kernel", "layers.00.down_proj=site:product"},
                            {"ASSAY_PLUGINS=" + plugin()});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST(PluginSites, ALayoutOfItsOwnIsPackedOnceForTheWholeWeight) {
  const Words command{"run", test_model("f16").string(), "-p", "In the beginning", "-n", "12", "--json", "--threads", "2"};
  EXPECT_EQ(text_of(with_plugin(command, {"layers.*_proj=site:product", "lm_head=site:product_f16"})),
            text_of(run_assay(command)));
}

TEST(PluginSites, ANamedTypeOnAGlobThatMeetsOthersListsThem) {
  const Words command{"run", quantised(), "-p", "a", "-n", "1"};
  expect_refused(with_plugin(command, {"layers.*.down_proj=site:product_q4_k"}),
                 {"site:product_q4_k is of linear_q4_k", "layers.02.down_proj (q6_k weights)"});
  expect_refused(with_plugin(command, {"layers.03.*=site:product"}), {"layers.03.attn_norm (rms_norm)", "layers.03.kv_store"});
  // One of two kinds of pass is not enough.
  expect_refused(with_plugin({"run", test_model("f16").string(), "-p", "a", "-n", "1"}, {"layers.00.down_proj=site:half_vector"}),
                 {"site:half_vector is of matvec_f16", "layers.00.down_proj (f16 weights)"});
}

TEST(PluginSites, UnknownNamesAreToldByWhatThereIs) {
  const Words command{"run", quantised(), "-p", "a", "-n", "1"};
  expect_refused(with_plugin(command, {"layers.00.down_proj=site:prodct"}), {"kernel of site", "prodct"});
  expect_refused(with_plugin(command, {"layers.00.down_proj=sight:product"}), {"plugin", "sight", "site"});
  expect_refused(with_plugin(command, {"layers.0.down_proj=site:product"}), {"layers.0.down_proj"});
  expect_refused(run_assay({"run", quantised(), "-p", "a", "--kernel", "layers.00.down_proj=site:product"}), {"--plugin"});
  expect_refused(run_assay({"run", quantised(), "-p", "a", "--plugin", "/nowhere.so"}), {"/nowhere.so"});
}

TEST(PluginSites, AttributeGivesEachSiteAMarginByTheFusedReference) {
  const Words command{"attribute", quantised(), "--golden", golden(), "--prompt", "genesis", "--json"};
  const Ran ran = with_plugin(command, {"layers.*.down_proj=site:product", "layers.02.down_proj=site:off"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  int judged = 0;
  for (const auto& site : json["prompts"][0]["sites"]) {
    const std::string name = site["site"];
    if (!name.ends_with("down_proj")) continue;
    ++judged;
    const bool wrong = name == "layers.02.down_proj";
    const std::string variant = site["variant"];
    EXPECT_TRUE(variant.starts_with(wrong ? "site:off_q" : "site:product_q")) << name << ": " << variant;
    EXPECT_EQ(site["verdict"] == "GUILTY", wrong) << name;
    const double margin = site["local_bounds"];
    EXPECT_EQ(margin > 1, wrong) << name << ": " << margin;
    EXPECT_GT(margin, 0) << name;
  }
  EXPECT_GT(judged, 3);
}

// The commands that attribute ends with, run as they stand: they show the same kernel failing on the step's own inputs.
TEST(PluginSites, AttributesCommandsCheckThePluginsKernelOnItsInputs) {
  const TemporaryFolder folder;
  const Ran ran =
      with_plugin({"attribute", quantised(), "--golden", golden(), "--prompt", "genesis"}, {"layers.02.down_proj=site:off"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  std::istringstream lines(ran.out);
  std::vector<Ran> done;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  assay ")) continue;
    Words words;
    std::istringstream in(line.substr(8));
    for (std::string word; in >> word;) {
      std::erase(word, '\'');
      words.push_back(word.ends_with("ours.h5") || word == "case.h5" ? (folder.path() / word).string() : word);
    }
    done.push_back(run_assay(words));
  }
  ASSERT_EQ(done.size(), 3U) << ran.out;
  EXPECT_EQ(done[0].status, 0) << done[0].err;
  EXPECT_EQ(done[1].status, 0) << done[1].err;
  EXPECT_EQ(done[2].status, 1) << done[2].err;
  EXPECT_NE(done[2].out.find("FAIL linear_q6_k site:off_q6_k, case genesis.layers.02.down_proj"), std::string::npos)
      << done[2].out;
}

TEST(PluginSites, BisectNamesTheWrongOne) {
  const Words command{"bisect", quantised(), "--golden", golden(), "--prompt", "genesis", "--json"};
  const Ran ran = with_plugin(command, {"layers.*.down_proj=site:product", "layers.02.attn_norm=site:norm_doubled"});
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_EQ(ran.status, 1) << ran.err << ran.out;
  EXPECT_EQ(json["sites"], nlohmann::json({"layers.02.attn_norm"})) << ran.out;
}

TEST(PluginSites, ATraceHoldsWhatThePluginGave) {
  const TemporaryFolder folder;
  const std::string ours = (folder.path() / "ours.h5").string();
  const std::string theirs = (folder.path() / "theirs.h5").string();
  const Words sites{"--sites", "layers.01.down_proj"};
  Words command{"trace", quantised(), "-p", "In the beginning", "-o", ours};
  command.insert(command.end(), sites.begin(), sites.end());
  ASSERT_EQ(run_assay(command).status, 0);
  command[5] = theirs;
  ASSERT_EQ(with_plugin(command, {"layers.01.down_proj=site:off"}).status, 0);
  const TraceFile a(ours), b(theirs);
  const Array x = a.site(a.prompt("prompt"), "layers.01.down_proj"), y = b.site(b.prompt("prompt"), "layers.01.down_proj");
  ASSERT_EQ(x.shape, y.shape);
  EXPECT_NE(x.as<float>()[0], y.as<float>()[0]);
  EXPECT_EQ(x.as<float>()[1], y.as<float>()[1]);
}

}  // namespace
}  // namespace assay::plugin_sites_test
