// --declare, as typed: what a user declares for kernels of a library that declares nothing (tests/plugins/declared.cc, traits.cc).
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "golden/atomic_file.h"
#include "golden/read_file.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::declare_option_test {
namespace {

using Words = std::vector<std::string>;

std::string plugin(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / (name + ".so")).string();
}

// COMMAND OP, of a kernel of a plugin ("declared:x_f16" is of declared_plugin), and more.
Ran run_of(const std::string& command, const std::string& op, const std::string& kernel, const Words& more) {
  Words words{command, op, "--plugin", plugin(kernel.substr(0, kernel.find(':')) + "_plugin"), "--variant", kernel};
  words.insert(words.end(), more.begin(), more.end());
  return run_assay(words);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Declare, StandsForPropertiesThatAKernelLacks) {
  const Words declared{"--case", "bias", "--declare", "x=f16;order=lanes:8"};
  EXPECT_EQ(run_of("check", "matvec_f32", "declared:x_f16", {"--case", "bias"}).status, 1);
  const Ran ran = run_of("check", "matvec_f32", "declared:x_f16", declared);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "pass as declared, price ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "matvec_f32 declared:x_f16 declares order=lanes:8, x=f16\n")) << ran.out;
}

TEST(Declare, AddsToThemAndReplacesThem) {
  EXPECT_EQ(run_of("check", "matvec_f32", "declared:x_bf16_as_f16", {"--case", "bias"}).status, 1);
  const Ran ran = run_of("check", "matvec_f32", "declared:x_bf16_as_f16", {"--case", "bias", "--declare", "x=bf16;flush=yes;"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_TRUE(contains(ran.out, "declares nan=no (not seen), flush=yes, order=lanes:8, x=bf16\n")) << ran.out;
}

// The runner watches what a call may do, so that it must be told.
TEST(Declare, TraitsReachTheRunner) {
  const Words small{"--shape", "rows=3,n=40"};
  EXPECT_EQ(run_of("check", "rms_norm", "traits:thread", small).status, 1);
  EXPECT_EQ(run_of("check", "rms_norm", "traits:thread", {"--shape", "rows=3,n=40", "--declare", "threads=own"}).status, 0);
}

TEST(Declare, TheRepeatLineAndTheJsonHaveIt) {
  const Ran ran = run_of("check", "matvec_f32", "declared:x_bf16_as_f16", {"--case", "bias", "--declare", "acc=f32", "--json"});
  EXPECT_EQ(ran.status, 1);
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["request"]["declared"], "acc=f32;");
  EXPECT_TRUE(contains(json["cases"][0]["repro"], "--declare 'acc=f32;' --variant declared:x_bf16_as_f16")) << ran.out;
  const Ran why = run_of("explain", "matvec_f32", "declared:x_f16",
                         {"--case", "bias", "--declare", "order=lanes:8;nan=no", "--checks", "classes,bound", "--json"});
  EXPECT_EQ(nlohmann::json::parse(why.out)["declared"], "order=lanes:8;nan=no;");
  EXPECT_TRUE(contains(why.out, "x=f16;")) << why.out;
}

TEST(Declare, WhatFailedIsRepeatedWithIt) {
  const TemporaryFolder folder;
  const Words home{"XDG_STATE_HOME=" + folder.path().string()};
  Words words{"check", "matvec_f32", "--plugin", plugin("declared_plugin"), "--variant", "declared:x_f16", "--case",
              "bias",  "--declare",  "x=bf16"};
  EXPECT_EQ(run_assay(words, home).status, 1);
  const Ran again = run_assay({"check", "--failed"}, home);
  EXPECT_EQ(again.status, 1);
  EXPECT_TRUE(contains(again.out, "declares x=bf16")) << again.out << again.err;
}

TEST(Declare, AReducedCaseFailsAsDeclared) {
  const TemporaryFolder folder;
  const std::string golden = (folder.path() / "case.h5").string();
  const Ran ran = run_of("reduce", "matvec_f32", "declared:x_bf16_as_f16",
                         {"--case", "bias", "--declare", "acc=f32", "--calls", "200", "-o", golden, "--json"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["declared"], "acc=f32;");
  EXPECT_TRUE(contains(json["command"], "--declare 'acc=f32;'")) << ran.out;
}

TEST(Declare, AnOrderIsHeldToWhatIsFound) {
  const Words shape{"--shape", "k=64,n=32", "--declare"};
  const auto order = [&](const std::string& words) {
    return run_of("order", "matvec_f32", "declared:x_f16", {"--shape", "k=64,n=32", "--declare", words});
  };
  EXPECT_EQ(order("x=f16;order=lanes:8").status, 0);
  const Ran ran = order("x=f16;order=lanes:16");
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(contains(ran.out, "matvec_f32 declared:x_f16 declares order=lanes:16, x=f16\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "order=lanes:16 is declared; at k=64,n=32 the products are added up in another: 8 lanes"))
      << ran.out;
}

TEST(Declare, ARecordedRunIsVerifiedWithIt) {
  const TemporaryFolder folder;
  const std::string record = (folder.path() / "run.json").string();
  const Words words{"--shape", "k=64,n=32", "--warm", "--record", record};
  Words declared = words;
  declared.insert(declared.end(), {"--declare", "x=f16;order=lanes:8;nan=no"});
  EXPECT_EQ(run_of("bench", "matvec_f32", "declared:x_f16", words).status, 1);
  const Ran ran = run_of("bench", "matvec_f32", "declared:x_f16", declared);
  ASSERT_EQ(ran.status, 0) << ran.out << ran.err;
  const auto verify = [&] { return run_assay({"verify", record, "--plugin", plugin("declared_plugin")}); };
  const Ran same = verify();
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  auto json = nlohmann::json::parse(read_file(record));
  EXPECT_EQ(json["declared"], "x=f16;order=lanes:8;nan=no;");
  json.erase("declared");
  write_file_atomically(record, json.dump());
  EXPECT_EQ(verify().status, 1) << "undeclared it does not pass, and so has no time";
}

TEST(Declare, WhatCannotBeDeclaredIsRefused) {
  const auto refused = [](const std::string& op, const std::string& kernel, const std::string& words) {
    const Ran ran = run_of("check", op, kernel, {"--declare", words});
    EXPECT_EQ(ran.status, 2) << words;
    return ran.err;
  };
  EXPECT_TRUE(contains(refused("rms_norm", "traits:nan", "x=f16"),
                       "declared 'x=f16;': rms_norm has no use for 'x' here; it has one for: acc, "));
  EXPECT_TRUE(contains(refused("rms_norm", "traits:nan", "odrer=free"), "unknown key 'odrer'; the nearest is 'order'"));
  EXPECT_TRUE(contains(refused("rms_norm", "traits:nan", "order=lanes:0"), "order is 'lanes:0'; expected "));
  EXPECT_TRUE(contains(refused("rms_norm", "traits:nan", "flush"), "--declare: 'flush' is not key=value;"));
  EXPECT_TRUE(contains(refused("rms_norm", "traits:nan", "nan=no;nan=no"), "key 'nan' is there twice"));
  EXPECT_TRUE(contains(refused("add", "bad:canonical", "flush=yes"), "its claim, canonical, says what it computes"));
  const Ran ours = run_assay({"check", "rms_norm", "--declare", "order=free"});
  EXPECT_EQ(ours.status, 2);
  EXPECT_TRUE(contains(ours.err, "--declare is of plugins' kernels: name a plugin by --plugin")) << ours.err;
}

}  // namespace
}  // namespace assay::declare_option_test
