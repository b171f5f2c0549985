// assay reduce: the search alone, and calls of the bad plugin's kernels reduced, written, and failed again by what was written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "harness/forensics/reduce/ddmin.h"
#include "harness/forensics/reduce/reduce.h"
#include "harness/forensics/reduce/shrink.h"
#include "harness/verdict/discipline/sanitized.h"
#include "harness/verdict/generate_input.h"
#include "reference/blocks.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::reduce_test {
namespace {

std::string plugin() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "bad_plugin.so").string();
}

using Items = std::vector<std::size_t>;

// Fails with all of `needed`.
StillFails needs(const Items& needed, int& asked) {
  return [&needed, &asked](std::span<const std::size_t> kept) {
    ++asked;
    EXPECT_TRUE(std::ranges::is_sorted(kept));
    return std::ranges::includes(kept, needed);
  };
}

TEST(Reduce, TheSearchFindsWhatIsNeeded) {
  for (const Items& needed : {Items{}, Items{0}, Items{999}, Items{3, 4, 700}, Items{0, 500, 501, 998, 999}}) {
    int asked = 0;
    EXPECT_EQ(smallest_failing(1000, needs(needed, asked)), needed);
    EXPECT_LT(asked, 250) << needed.size();
  }
  int asked = 0;
  Items all(40);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(smallest_failing(all.size(), needs(all, asked)), all);
}

TEST(Reduce, NoneOfWhatIsLeftCanBeLeftOutAlone) {
  // It fails with at least 17 of them: which, does not matter.
  const StillFails many = [](std::span<const std::size_t> kept) { return kept.size() >= 17; };
  EXPECT_EQ(smallest_failing(1000, many).size(), 17U);
  // Leaving out an item can make another one superfluous: only with 5 is 2 needed.
  const StillFails linked = [](std::span<const std::size_t> kept) {
    const std::set<std::size_t> set(kept.begin(), kept.end());
    return set.contains(4) && set.contains(7) && (!set.contains(5) || set.contains(2));
  };
  EXPECT_EQ(smallest_failing(8, linked), (Items{4, 7}));
}

// A pass over what is left would take as long as the square of it.
TEST(Reduce, AsksNoMoreOnceItHasEnded) {
  int asked = 0;
  const auto needs_all = [&](std::span<const std::size_t>) {
    ++asked;
    return false;
  };
  EXPECT_EQ(smallest_failing(1 << 20, needs_all, [&] { return asked == 5; }).size(), std::size_t{1} << 20);
  EXPECT_EQ(asked, 5);
}

TEST(Reduce, BlocksKeepTheirSums) {
  const TensorSpec spec = input("x", DType::q8_k, {2});
  CallData call{{}, {generate_input(spec, {"activations"}, 5, 0)}};
  const std::vector<Spot> all = spots(call.inputs, Simple::zero, true);
  const Items kept{0, 1, 2, 3, 5, 9};  // the scale and two codes
  const CallData small = simplified(call, all, kept, Simple::zero);
  const std::vector<std::uint8_t>& bytes = small.inputs[0].bytes;
  int sum = 0;
  for (std::size_t i = 4; i < 20; ++i) sum += static_cast<std::int8_t>(bytes[i]);
  EXPECT_NE(sum, 0);
  EXPECT_EQ(static_cast<std::int16_t>(bytes[260] | bytes[261] << 8), sum);
  EXPECT_EQ(bytes[262], 0);
}

// What may become of a failure on the way: other numbers and places, no other failure of the same check.
TEST(Reduce, AFailureStaysTheSame) {
  const Failure past{Check::guard, "touched 4 bytes past the end of w (guard page), placed at an end"};
  EXPECT_TRUE(same_manner(past, {Check::guard, "touched 64 bytes past the end of w (guard page), placed at 3"}));
  EXPECT_FALSE(same_manner(past, {Check::guard, "returned bad_parameter when placed"}));
  EXPECT_FALSE(same_manner(past, {Check::guard, "touched 4 bytes past the end of x (guard page), placed at an end"}));
  EXPECT_FALSE(same_manner(past, {Check::bound, past.message}));
}

nlohmann::json reduced(const std::string& variant, std::vector<std::string> more) {
  more.insert(more.begin(), {"reduce", "rms_norm", "--plugin", plugin(), "--variant", variant, "--json"});
  const Ran ran = run_assay(more);
  EXPECT_EQ(ran.status, 1) << ran.err;
  return nlohmann::json::parse(ran.out, nullptr, false);
}

int shell(const std::string& command) {
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): the test's own words
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Compiles the program and runs it with a kernel of the plugin.
class CProgram {
 public:
  explicit CProgram(const std::filesystem::path& source) : program_(source.string() + ".run") {
    const std::string command = std::string(std::getenv("ASSAY_C_COMPILER")) + " -std=c11 -Wall -Werror '" + source.string() +
                                "' -o '" + program_ + "' -lm -ldl";
    EXPECT_EQ(shell(command), 0);
  }
  int run(const std::string& kernel, const std::string& out = "/dev/null") const {
    return shell("'" + program_ + "' '" + plugin() + "' " + kernel + " >'" + out + "'");
  }

 private:
  std::string program_;
};

TEST(Reduce, AValueThatIsWrong) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a program without a sanitizer cannot load a plugin that has one";
#endif
  const TemporaryFolder folder;
  const std::string golden = (folder.path() / "case.h5").string(), c = (folder.path() / "case.c").string();
  const auto told = reduced("bad:many_ulp", {"--shape", "rows=5,n=200,x_stride=230", "-o", golden, "--c", c});
  ASSERT_TRUE(told.is_object());
  EXPECT_EQ(told["check"], "bound");
  EXPECT_EQ(told["reduced"]["params"], "eps=1e-06,n=4,rows=1");
  EXPECT_EQ(told["reduced"]["nonzero"], 2) << "x[3] and w[3]";
  EXPECT_EQ(told["reduced"]["outputs"], 4);
  EXPECT_FALSE(told["ended_early"]);
  const auto check = [&](const char* variant) {
    return run_assay({"check", "rms_norm", "--plugin", plugin(), "--variant", variant, "--golden", golden, "--case", "reduced"})
        .status;
  };
  EXPECT_EQ(check("bad:many_ulp"), 1);
  EXPECT_EQ(check("bad:good"), 0);
  const CProgram program(c);
  const std::string out = (folder.path() / "out").string();
  EXPECT_EQ(program.run("", out), 1);
  EXPECT_NE(file_bytes(out).find("y, element 3: got "), std::string::npos) << file_bytes(out);
  EXPECT_EQ(program.run("good"), 0);
  EXPECT_EQ(program.run("none"), 2);
}

TEST(Reduce, WhatLiesOutside) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a program without a sanitizer cannot load a plugin that has one";
#endif
  const TemporaryFolder folder;
  for (const std::string kernel : {"read_past", "write_past", "write_before", "segfault"}) {
    const std::string c = (folder.path() / (kernel + ".c")).string();
    const auto told = reduced("bad:" + kernel, {"--shape", "rows=3,n=40", "--c", c});
    ASSERT_TRUE(told.is_object());
    EXPECT_EQ(told["check"], "guard");
    EXPECT_LE(told["reduced"]["outputs"], 1) << kernel;
    const CProgram program(c);
    EXPECT_EQ(program.run(""), 1) << kernel;
    EXPECT_EQ(program.run("good"), 0) << kernel;
  }
}

TEST(Reduce, ItStopsWhenItMay) {
  const auto told = reduced("bad:many_ulp", {"--shape", "rows=5,n=200", "--calls", "3"});
  ASSERT_TRUE(told.is_object());
  EXPECT_TRUE(told["ended_early"]);
  EXPECT_LE(told["calls"], 4);
}

TEST(Reduce, WhereThereIsNothingToReduce) {
  const Ran right = run_assay({"reduce", "rms_norm", "--plugin", plugin(), "--variant", "bad:good", "--shape", "rows=3,n=40"});
  EXPECT_EQ(right.status, 2);
  EXPECT_NE(right.err.find("no case fails"), std::string::npos) << right.err;
  EXPECT_EQ(run_assay({"reduce", "--plugin", plugin()}).status, 2);
}

}  // namespace
}  // namespace assay::reduce_test
