#include "harness/verdict/guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace assay::guard_test {
namespace {

constexpr std::size_t kBytes = 12345;

TEST(GuardedMemory, IsUsedAgainByItsOwnProcess) {
  std::optional<GuardedMemory> first(kBytes);
  const std::uint8_t* const begin = first->begin();
  const GuardedMemory beside(kBytes);
  EXPECT_NE(beside.begin(), begin);
  first.reset();
  const GuardedMemory again(kBytes);
  EXPECT_EQ(again.begin(), begin);
  again.begin()[0] = 7;
  EXPECT_EQ(*again.read_only(again.begin()), 7);
}

// It is shared memory: a child that took what its parent left would write into what the parent takes next.
TEST(GuardedMemory, ThatAParentLeftIsItsOwn) {
  std::optional<GuardedMemory>(std::in_place, kBytes).reset();
  const pid_t child = fork();
  if (child == 0) {
    const GuardedMemory memory(kBytes);
    usleep(20'000);  // the parent has written
    memory.begin()[0] = 1;
    pause();
  }
  const GuardedMemory memory(kBytes);
  memory.begin()[0] = 2;
  usleep(100'000);
  EXPECT_EQ(memory.begin()[0], 2);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// What a process has of its parent's goes on being the parent's when the process is done with it.
TEST(GuardedMemory, OfAParentIsNotLeftToAChild) {
  std::optional<GuardedMemory> shared(kBytes);
  shared->begin()[0] = 2;
  const pid_t child = fork();
  if (child == 0) {
    shared.reset();
    const GuardedMemory memory(kBytes);
    memory.begin()[0] = 1;
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(shared->begin()[0], 2);
}

}  // namespace
}  // namespace assay::guard_test
