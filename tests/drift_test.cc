// Drift as a person meets it: other bits inside the bound fail with both digests and margins and the command that accepts them; the
// ledger takes them with a reason, from kernels that pass.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/verdict/ledger.h"
#include "harness/verdict/suite.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::drift_test {
namespace {

const std::string kCase = "n17";
const std::string kOther = "00112233445566778899aabbccddeeff";

bool contains(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// A data folder with the goldens of `add` alone, whose ledger remembers other bits for one case.
class Drifted {
 public:
  explicit Drifted(bool another_margin = true) {
    const std::filesystem::path golden = folder_.path() / "golden";
    std::filesystem::create_directories(golden / "ops");
    std::filesystem::copy_file(own_golden() / "ops" / "add.h5", file());
    json_ = nlohmann::json::parse(std::ifstream(ledger_path()));
    digest_ = json_.at("digests").at("add").at(kCase);
    json_["digests"]["add"][kCase] = kOther;
    if (another_margin) json_["margins"]["add"][kCase] = 0.125;
    std::ofstream(ledger()) << json_.dump();
  }

  Ran run(const std::vector<std::string>& arguments) const {
    return run_assay(arguments, {"ASSAY_DATA=" + folder_.path().string()});
  }
  std::filesystem::path file() const { return folder_.path() / "golden" / "ops" / "add.h5"; }
  std::filesystem::path ledger() const { return folder_.path() / "golden" / "ledger.json"; }
  nlohmann::json kept() const { return nlohmann::json::parse(std::ifstream(ledger())); }
  const nlohmann::json& before() const { return json_; }
  const std::string& digest() const { return digest_; }

 private:
  TemporaryFolder folder_;
  nlohmann::json json_;
  std::string digest_;
};

// Adds one to every truth of the case.
void spoil_truth(const std::filesystem::path& file) {
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(id, ("cases/" + kCase + "/truth/y").c_str(), H5P_DEFAULT);
  std::vector<double> truth(17);
  herr_t done = H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, truth.data());
  for (double& value : truth) value += 1;
  if (done >= 0) done = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, truth.data());
  H5Dclose(set);
  H5Fclose(id);
  if (done < 0) throw std::runtime_error(file.string() + ": the truth cannot be rewritten");
}

TEST(Drift, FailsWithBothDigestsBothMarginsAndTheCommand) {
  const Drifted drifted;
  const Ran ran = drifted.run({"check", "add"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_TRUE(contains(ran.out, "drift: digest " + drifted.digest() + ", the ledger has " + kOther + "; margin ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, ", then 0.125: inside the bound. If it is meant: assay ledger accept add --why \"...\""))
      << ran.out;
  EXPECT_TRUE(contains(ran.out, "add_scalar, case " + kCase)) << ran.out;
  EXPECT_EQ(drifted.run({"check", "add", "--case", "n16"}).status, 0) << "the other cases are as they were";
}

TEST(Drift, OtherBitsOfTheSameMarginFail) {
  const Ran ran = Drifted(false).run({"check", "add", "--case", kCase});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_TRUE(contains(ran.out, ", the ledger has " + kOther)) << ran.out;
}

TEST(Drift, IsNotAcceptedWithoutAReason) {
  const Drifted drifted;
  EXPECT_EQ(drifted.run({"ledger", "accept", "add"}).status, 2);
  const Ran blank = drifted.run({"ledger", "accept", "add", "--why", " \t"});
  EXPECT_EQ(blank.status, 2);
  EXPECT_TRUE(contains(blank.err, "a reason is needed")) << blank.err;
  EXPECT_EQ(drifted.kept(), drifted.before());
}

TEST(Drift, IsNotAcceptedFromKernelsThatDoNotPass) {
  const Drifted drifted;
  spoil_truth(drifted.file());
  const Ran ran = drifted.run({"ledger", "accept", "add", "--why", "it looks right"});
  EXPECT_NE(ran.status, 0);
  EXPECT_TRUE(contains(ran.err, "the ledger takes no digest of kernels that do not pass")) << ran.err;
  EXPECT_EQ(drifted.kept(), drifted.before());
}

TEST(Drift, IsAcceptedByNameAndReason) {
  const Drifted drifted;
  const Ran ran = drifted.run({"ledger", "accept", "add", "--why", "sums in another order"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "add " + kCase + "\n1 case changed in ")) << ran.out;
  const nlohmann::json kept = drifted.kept();
  EXPECT_EQ(kept.at("digests").at("add").at(kCase), drifted.digest());
  EXPECT_LE(kept.at("margins").at("add").at(kCase).get<double>(), 1);
  EXPECT_EQ(kept["accepted"].size(), drifted.before()["accepted"].size() + 1);
  const nlohmann::json& entry = kept["accepted"].back();
  EXPECT_EQ(entry["op"], "add");
  EXPECT_EQ(entry["why"], "sums in another order");
  EXPECT_FALSE(entry["who"].get<std::string>().empty());
  EXPECT_EQ(entry["date"].get<std::string>().size(), 10U);
  EXPECT_EQ(entry["cases"], nlohmann::json::array({kCase}));
  EXPECT_EQ(drifted.run({"check", "add"}).status, 0) << "the accepted bits are the ledger's now";
}

TEST(Ledger, WhatIsAcceptedReplacesWhatWas) {
  const TemporaryFolder folder;
  Ledger ledger(folder.path() / "ledger.json");
  ledger.accept("add", {{"one", kOther}, {"two", kOther}}, {{"one", 0.5}, {"two", 0.25}}, "a person", "2026-01-01", "first");
  ledger.accept("add", {{"one", kOther}}, {}, "a person", "2026-01-02", "no errors, one case");
  EXPECT_EQ(ledger.margin("add", "one"), 0.0);
  EXPECT_EQ(ledger.margin("add", "two"), std::nullopt);
  EXPECT_EQ(ledger.digest("add", "two"), std::nullopt);
}

}  // namespace
}  // namespace assay::drift_test
