// HDF5 files of strangers are read in a child process: the same answers, and a child's end is an error like any other.
#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>

#include "golden/hdf5_source.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::hdf5_child_test {
namespace {

// Of this process.
std::vector<int> child_processes() {
  std::ifstream in("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::vector<int> found;
  for (int child = 0; in >> child;) found.push_back(child);
  return found;
}

std::filesystem::path small_golden() {
  return own_golden() / "ops" / "add.h5";
}

// Everything that can be asked of a file.
struct Answers {
  int groups = 0;
  int datasets = 0;
};

void expect_same(const Hdf5File& here, const Hdf5File& child, const std::string& object, Answers& answers) {
  EXPECT_EQ(here.exists(object), child.exists(object)) << object;
  EXPECT_EQ(here.attributes(object), child.attributes(object)) << object;
  ASSERT_EQ(here.is_group(object), child.is_group(object)) << object;
  if (here.is_group(object)) {
    ++answers.groups;
    const std::vector<std::string> names = here.children(object);
    ASSERT_EQ(names, child.children(object)) << object;
    for (const std::string& name : names) expect_same(here, child, (object == "/" ? "" : object) + "/" + name, answers);
    return;
  }
  ++answers.datasets;
  const Array a = here.read(object);
  const Array b = child.read(object);
  EXPECT_TRUE(a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes) << object;
  const Array shape = child.describe(object);
  EXPECT_TRUE(a.dtype == shape.dtype && a.shape == shape.shape && shape.bytes.empty()) << object;
}

class SameAnswers : public testing::TestWithParam<const char*> {};

TEST_P(SameAnswers, AsTheLibraryInThisProcessGives) {
  const std::filesystem::path path = own_golden() / GetParam();
  Answers answers;
  expect_same(Hdf5File(path, Hdf5Origin::known), Hdf5File(path, Hdf5Origin::stranger), "/", answers);
  EXPECT_GT(answers.groups, 1);
  EXPECT_GT(answers.datasets, 10);
}

INSTANTIATE_TEST_SUITE_P(Files, SameAnswers,
                         testing::Values("ops/add.h5", "ops/gemv_q4_k_q8_k.h5", "ops/matvec_bf16.h5",
                                         "traces/kjv-llama-q4_k_m.h5"));

TEST(Hdf5Child, RefusalsAreThoseOfTheLibrary) {
  const Hdf5File here(small_golden(), Hdf5Origin::known);
  const Hdf5File child(small_golden());
  const auto same = [&](const auto& question) {
    const std::string refusal = message_of<Hdf5Error>([&] { question(child); });
    EXPECT_EQ(refusal, message_of<Hdf5Error>([&] { question(here); }));
    expect_mentions(refusal, {"add.h5"});
  };
  same([](const Hdf5File& file) { return file.read("/nothing"); });
  same([](const Hdf5File& file) { return file.read("/cases"); });
  same([](const Hdf5File& file) { return file.attributes("/cases/nothing"); });
  same([](const Hdf5File& file) { return file.integer_array("/cases", "shape"); });
  EXPECT_TRUE(child.exists("/cases")) << "a refusal ends nothing";
}

TEST(Hdf5Child, AMissingFileLeavesNoProcess) {
  expect_mentions(message_of<Hdf5Error>([] { Hdf5File("/nowhere/x.h5"); }), {"/nowhere/x.h5", "no such file"});
  EXPECT_TRUE(child_processes().empty());
}

TEST(Hdf5Child, EndsWithItsFile) {
  {
    const Hdf5File known(small_golden(), Hdf5Origin::known);
    EXPECT_TRUE(child_processes().empty()) << "a known file needs none";
    const Hdf5File first(small_golden());
    const Hdf5File second(small_golden());
    EXPECT_EQ(child_processes().size(), 2U);
    EXPECT_TRUE(first.exists("/cases") && second.exists("/cases"));
  }
  EXPECT_TRUE(child_processes().empty());
}

TEST(Hdf5Child, ItsDeathIsNamedAndStaysSo) {
  const Hdf5File file(small_golden());
  ASSERT_EQ(child_processes().size(), 1U);
  ASSERT_EQ(kill(child_processes().front(), SIGSEGV), 0);
  const auto ask = [&] { static_cast<void>(file.attributes("/cases")); };
  const std::string first = message_of<Hdf5Error>(ask);
  expect_mentions(first, {"add.h5: /cases: the process that reads it ended by signal 11", "made to harm"});
  EXPECT_EQ(message_of<Hdf5Error>(ask), first);
  EXPECT_TRUE(child_processes().empty());
}

TEST(Hdf5Child, OneThatHangsIsEnded) {
  const auto file = open_hdf5_in_child(small_golden(), std::chrono::milliseconds(200));
  ASSERT_EQ(kill(child_processes().at(0), SIGSTOP), 0);
  expect_mentions(message_of<Hdf5Error>([&] { static_cast<void>(file->children("/")); }),
                  {"add.h5", "gave no answer for 200 ms"});
  EXPECT_TRUE(child_processes().empty());
}

// Reads what there is, in a file of which some bytes are others.
void read_all(const Hdf5File& file, const std::string& group, int depth) {
  static_cast<void>(file.attributes(group));
  for (const std::string& name : file.children(group)) {
    const std::string object = (group == "/" ? "" : group) + "/" + name;
    if (!file.is_group(object)) {
      static_cast<void>(file.read(object));
    } else if (depth < 8) {
      read_all(file, object, depth + 1);
    }
  }
}

TEST(Hdf5Child, DamagedFilesAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::string whole = file_bytes(own_golden() / "ops" / "exp.h5");
  std::mt19937 random(9);
  int refused = 0;
  constexpr int kFiles = 60;
  for (int i = 0; i < kFiles; ++i) {
    std::string bytes = whole;
    // Every other file only at its beginning, where the structure is dense.
    const std::size_t within = i % 2 == 0 ? 4096 : bytes.size();
    for (int change = 0; change < 8; ++change) bytes[random() % within] = static_cast<char>(random());
    const std::filesystem::path path = folder.path() / "damaged.h5";
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      read_all(Hdf5File(path), "/", 0);
    } catch (const Hdf5Error& error) {
      ++refused;
      expect_mentions(error.what(), {"damaged.h5"});
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(child_processes().empty());
}

}  // namespace
}  // namespace assay::hdf5_child_test
