// Each allocation of a model's loading fails once: std::bad_alloc or an error that says so, no leak, and the next load gives the same
// logits. Allocations 1, 2, 3, ... and then in growing steps; with ASSAY_ALL_FAULTS each.
//
// nlohmann's destructors allocate, and std::terminate has what they throw: a child goes first, and where it ends so, of JSON alone, the
// allocation is counted and left out. The program makes "out of memory" and exit 2 of it (harness/cli/process.cc).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>

#include "engine/tokenizer/tokenizer.h"
#include "tests/engine_support.h"
#include "tests/faults/failing_allocations.h"

namespace assay {
namespace {

using faults::fail_allocation;
using faults::stop_failing;

constexpr const char* kText = "In the beginning God created the heaven and the earth.";

std::vector<std::uint32_t> load_and_feed(const std::filesystem::path& path) {
  const ModelFile model(path);
  const Tokenizer tokenizer(model.vocabulary());
  EngineOptions options;
  options.threads = 1;  // a child has no threads but the one
  options.plan.context = 40;
  options.plan.all_logits = true;
  Engine engine(model, options);
  return logits_of_all(engine, tokenizer.encode(kText), 8);
}

struct Outcomes {
  std::int64_t allocations = 0;  // of a load
  std::int64_t tried = 0;
  std::int64_t out_of_memory = 0;
  std::int64_t named = 0;
  std::int64_t done_without = 0;  // what asked can do without: the result was the same
  std::int64_t terminated = 0;
};

constexpr int kTerminated = 40;

template <class Load>
bool ends_in_terminate(std::int64_t number, const Load& load) {
  const pid_t child = fork();
  if (child == 0) {
    std::set_terminate([] { _exit(kTerminated); });
    fail_allocation(number);
    try {
      load();
    } catch (const std::exception&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  return WIFEXITED(status) && WEXITSTATUS(status) == kTerminated;
}

// What `load` did without the memory: nothing thrown is right where its result is.
template <class Load>
void try_one(Outcomes& outcomes, std::int64_t number, const Load& load, const std::vector<std::uint32_t>& expected) {
  std::optional<std::vector<std::uint32_t>> result;
  std::string message;
  bool no_memory = false;
  fail_allocation(number);
  try {
    result.emplace(load());
  } catch (const std::bad_alloc&) {
    no_memory = true;
  } catch (const std::exception& error) {
    stop_failing();
    message = error.what();
  }
  stop_failing();
  ++outcomes.tried;
  outcomes.out_of_memory += no_memory;
  if (result) {
    ++outcomes.done_without;
    EXPECT_EQ(*result, expected) << "it went on, and came to something else";
  } else if (!no_memory) {
    ++outcomes.named;
    EXPECT_NE(message.find("annot allocate memory"), std::string::npos) << message;
  }
}

std::int64_t next(std::int64_t number) {
  return std::getenv("ASSAY_ALL_FAULTS") != nullptr ? number + 1 : number + 1 + number / 48;
}

class AllocationFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (!faults::can_fail_allocations()) GTEST_SKIP() << "the heap is the sanitizer's";
  }

  template <class Load>
  void expect_survived(const char* name, bool json, const Load& load) {
    const std::vector<std::uint32_t> expected = load();
    load();  // what is made once and kept is there now
    Outcomes outcomes;
    fail_allocation(0);
    load();
    outcomes.allocations = stop_failing();
    for (std::int64_t number = 1; number <= outcomes.allocations; number = next(number)) {
      SCOPED_TRACE(std::string(name) + ": allocation " + std::to_string(number));
      if (ends_in_terminate(number, load)) {
        ++outcomes.terminated;
        continue;
      }
      const std::int64_t blocks = faults::heap_blocks();
      const std::int64_t mapped = faults::mapped_bytes();
      try_one(outcomes, number, load, expected);
      EXPECT_EQ(faults::heap_blocks(), blocks) << "blocks were not given back";
      EXPECT_EQ(faults::mapped_bytes(), mapped) << "mapped and never unmapped";
      ASSERT_FALSE(HasFailure());
      if (outcomes.tried % 16 == 0) {
        ASSERT_EQ(load(), expected) << "the next load";
      }
    }
    EXPECT_EQ(load(), expected);
    EXPECT_GT(outcomes.out_of_memory, 10);
    EXPECT_LE(outcomes.terminated, json ? outcomes.tried / 4 : 0);
    std::cout << name << ": " << outcomes.allocations << " allocations, " << outcomes.tried
              << " of them failed: " << outcomes.out_of_memory << " std::bad_alloc, " << outcomes.named << " by name, "
              << outcomes.done_without << " done without; " << outcomes.terminated
              << " more would have ended in a destructor of JSON\n";
  }
};

TEST_F(AllocationFaults, LoadingGguf) {
  expect_survived("GGUF", false, [] { return load_and_feed(test_model("q8_0")); });
}

TEST_F(AllocationFaults, LoadingAFolder) {
  expect_survived("folder", true, [] { return load_and_feed(test_model("bf16-folder")); });
}

TEST_F(AllocationFaults, LoadingATokenizer) {
  const ModelFile model(test_model("bf16-folder"));
  expect_survived("tokenizer", true, [&] {
    const std::vector<std::int32_t> tokens = Tokenizer(model.vocabulary()).encode(kText);
    return std::vector<std::uint32_t>(tokens.begin(), tokens.end());
  });
}

TEST_F(AllocationFaults, MakingAPlan) {
  const ModelFile model(test_model("q8_0"));
  expect_survived("plan", false, [&] {
    const Plan plan = make_plan(model.config(), model.weights(), {});
    return std::vector<std::uint32_t>{static_cast<std::uint32_t>(plan.steps.size()),
                                      static_cast<std::uint32_t>(plan.slots.size())};
  });
}

}  // namespace
}  // namespace assay
