#include "harness/verdict/guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/verdict/discipline/poison.h"
#include "harness/verdict/discipline/sanitized.h"
#include "harness/verdict/discipline/stack.h"

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

TEST(Poison, EveryByteThatIsTouchedIsFound) {
  const Poison poison(Poison::Kind::noise, 1);
  std::vector<std::uint8_t> memory(3 * 4096 + 77);
  std::uint8_t* const end = memory.data() + memory.size();
  const std::uint8_t* const origin = memory.data() + 1000;
  poison.fill(origin, memory.data(), end);
  EXPECT_EQ(poison.find_touched(origin, memory.data(), end), nullptr);
  for (const std::size_t at : {std::size_t{0}, std::size_t{999}, std::size_t{1000}, std::size_t{5096}, memory.size() - 1}) {
    memory[at] ^= 1;
    memory.back() ^= 2;
    EXPECT_EQ(poison.find_touched(origin, memory.data(), end), &memory[at]) << at;
    memory.back() ^= 2;
    memory[at] ^= 1;
  }
}

#if defined(__x86_64__) && !ASSAY_SANITIZED
#define ASSAY_LOSES(name)                                        \
  __attribute__((naked)) AssayStatus loses_##name(const void*) { \
    __asm__("notq %" #name "\n\txorl %eax, %eax\n\tret");        \
  }
ASSAY_LOSES(rbx)
ASSAY_LOSES(rbp)
ASSAY_LOSES(r12)
ASSAY_LOSES(r13)
ASSAY_LOSES(r14)
ASSAY_LOSES(r15)
#undef ASSAY_LOSES

TEST(KernelStack, EveryRegisterThatIsLostIsNamed) {
  constexpr std::pair<const char*, KernelFunction> kLosers[] = {{"rbx", loses_rbx}, {"rbp", loses_rbp}, {"r12", loses_r12},
                                                                {"r13", loses_r13}, {"r14", loses_r14}, {"r15", loses_r15}};
  KernelStack& stack = KernelStack::of_this_thread();
  for (const auto& [name, loser] : kLosers) {
    EXPECT_EQ(stack.call(loser, nullptr), ASSAY_OK);
    EXPECT_EQ(stack.broken(), std::string("left another value in the register ") + name + ", which a callee saves");
  }
}
#endif

}  // namespace
}  // namespace assay::guard_test
