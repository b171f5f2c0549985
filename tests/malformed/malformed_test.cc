// Every malformed model is refused by the fault that it was made with, told by file and place, and for the price of the file.
#include <gtest/gtest.h>

#include <set>

#include "engine/model/model_file.h"
#include "golden/sha256.h"
#include "tests/malformed/allocations.h"
#include "tests/malformed/store.h"
#include "tests/temporary.h"

namespace assay::malformed {
namespace {

const std::vector<Case>& cases() {
  static const std::vector<Case> made = all_cases();
  return made;
}

std::size_t bytes_of(const Case& wrong) {
  std::size_t total = 0;
  for (const auto& [name, bytes] : wrong.files) total += bytes.size();
  return total;
}

std::string fingerprint(const Case& wrong) {
  std::string all;
  for (const auto& [name, bytes] : wrong.files) all += name + sha256(bytes);
  return all;
}

// What follows the file's name in a message: " byte 24: ..." or " key 'x': ...".
bool names_a_place(const std::string& rest) {
  if (rest.starts_with(" byte ") && rest.size() > 6 && rest[6] >= '0' && rest[6] <= '9') return true;
  for (const char* subject : {" key '", " tensor '", " member '", " weight_map '"}) {
    if (rest.starts_with(subject)) return true;
  }
  return false;
}

void expect_refused(const Case& wrong, const std::filesystem::path& folder) {
  SCOPED_TRACE(wrong.name);
  const std::filesystem::path path = store(wrong, folder);
  start_counting_allocations();
  try {
    const ModelFile model(path);
    ADD_FAILURE() << "it loads";
  } catch (const ModelFileError& error) {
    const std::string message = error.what();
    EXPECT_EQ(fault_name(error.fault()), fault_name(wrong.fault)) << message;
    const std::string file = (folder / wrong.name / wrong.file).string() + ":";
    EXPECT_NE(message.find(file), std::string::npos) << message << "\nlacks " << file;
    EXPECT_TRUE(wrong.fault == Fault::unreadable || names_a_place(message.substr(message.find(file) + file.size()))) << message;
    EXPECT_NE(message.find(wrong.mentions), std::string::npos) << message << "\nlacks " << wrong.mentions;
    EXPECT_TRUE(message.ends_with(" [" + std::string(fault_name(wrong.fault)) + "]")) << message;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
  }
  const Allocations asked = allocations();
  // What the file claims is no reason to allocate: of a file of n bytes some multiple of n, and the parser's own tables.
  EXPECT_LE(asked.largest, 16 * bytes_of(wrong) + (1U << 20));
  EXPECT_LE(asked.total, 64 * bytes_of(wrong) + (8U << 20));
}

TEST(Malformed, RightFilesLoad) {
  const TemporaryFolder folder;
  for (const Case& right : right_files()) {
    SCOPED_TRACE(right.name);
    const ModelFile model(store(right, folder.path()));
    EXPECT_EQ(model.config().layers, 2);
    EXPECT_EQ(model.weights().all().size(), 24U);
  }
}

TEST(Malformed, AtLeastTwoHundredAndNoTwoAlike) {
  std::set<std::string> names;
  std::set<std::string> contents;
  for (const Case& right : right_files()) contents.insert(fingerprint(right));
  for (const Case& wrong : cases()) {
    EXPECT_TRUE(names.insert(wrong.name).second) << wrong.name << " is there twice";
    EXPECT_TRUE(contents.insert(fingerprint(wrong)).second) << wrong.name << " has the bytes of another";
    EXPECT_FALSE(wrong.mechanism.empty() || wrong.mentions.empty()) << wrong.name;
  }
  EXPECT_GE(names.size(), 200U);
  RecordProperty("cases", static_cast<int>(names.size()));
}

TEST(Malformed, EveryKnownMechanismIsThere) {
  for (const char* known :
       {"CVE-2024-23496", "CVE-2025-53630", "CVE-2026-27940", "CVE-2026-33298", "CVE-2025-49847", "CVE-2026-7482"}) {
    bool found = false;
    for (const Case& wrong : cases()) found = found || wrong.mechanism.find(known) != std::string::npos;
    EXPECT_TRUE(found) << known;
  }
}

TEST(Malformed, EveryFaultOfALoaderIsThere) {
  std::set<Fault> seen;
  for (const Case& wrong : cases()) seen.insert(wrong.fault);
  for (int fault = 0; fault <= static_cast<int>(Fault::vocabulary); ++fault) {
    EXPECT_TRUE(seen.contains(static_cast<Fault>(fault))) << fault_name(static_cast<Fault>(fault));
  }
}

TEST(Malformed, EachIsRefusedByName) {
  const TemporaryFolder folder;
  for (const Case& wrong : cases()) expect_refused(wrong, folder.path());
}

}  // namespace
}  // namespace assay::malformed
