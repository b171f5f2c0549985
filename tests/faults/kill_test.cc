// SIGKILL at any moment of writing over an old file: afterwards the old file or the new one is there, byte for byte, and the next writer
// succeeds. Half of the kills come after a random time, half instead of a random call for the file. ASSAY_KILLS: how many in all.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

#include "tests/faults/commands.h"
#include "tests/temporary.h"

namespace assay::faults {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Victim {
  Command command;
  std::string old;
  std::string fresh;
  std::chrono::microseconds takes{0};
};

struct Count {
  int killed = 0;
  int too_late = 0;  // the program had ended
  int old_file = 0;
  int new_file = 0;
  int unfinished = 0;  // PATH.new was left
};

std::vector<Victim> victims(const fs::path& folder) {
  std::vector<Victim> all;
  for (const Command& command : writers(folder)) {
    if (command.name != "trace" && command.name != "ledger accept" && command.name != "quantize" && command.name != "import")
      continue;
    Victim victim{command, command.name == "ledger accept" ? file_bytes(command.file) : "the old file\n", {}, {}};
    const auto start = Clock::now();
    const Ran ran = run_assay(command.arguments, command.environment);
    victim.takes = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
    EXPECT_EQ(ran.status, 0) << command.name << ": " << ran.err;
    victim.fresh = file_bytes(command.file);
    all.push_back(victim);
  }
  return all;
}

int how_many() {
  const char* const given = std::getenv("ASSAY_KILLS");
  return given == nullptr ? 20 : std::atoi(given);
}

class Kill : public testing::Test {
 protected:
  // True if it was killed before its end.
  bool kill_after_a_time(const Victim& victim) {
    Program program(victim.command.arguments, victim.command.environment);
    const auto longest = static_cast<std::uint64_t>(victim.takes.count());
    usleep(static_cast<useconds_t>(random_() % (longest + 1)));
    program.send(SIGKILL);
    return program.wait().status == 128 + SIGKILL;
  }

  bool kill_at_a_call(const Victim& victim) {
    static constexpr const char* kCalls[] = {"open", "write", "pwrite", "ftruncate", "fsync", "rename"};
    const std::string call = kCalls[random_() % std::size(kCalls)];
    const bool many = call == "write" || call == "pwrite";
    const std::string fault =
        call + "," + std::to_string(1 + random_() % (many ? 40 : 2)) + ",kill," + victim.command.file.string();
    const Ran ran = run_assay(victim.command.arguments, environment_of(victim.command, fault, aside_.path() / "met"));
    return ran.status == 128 + SIGKILL;
  }

  std::mt19937 random_{20261121};
  TemporaryFolder aside_;
};

TEST_F(Kill, TheOldFileOrTheNewOneIsThere) {
  const TemporaryFolder folder;
  const std::vector<Victim> all = victims(folder.path());
  std::vector<Count> counts(all.size());
  const int wanted = how_many();
  for (int killed = 0, round = 0; killed < wanted && round < 4 * wanted; ++round) {
    const std::size_t who = static_cast<std::size_t>(round) % all.size();
    const Victim& victim = all[who];
    const fs::path& file = victim.command.file;
    SCOPED_TRACE(victim.command.name);
    write_content(file, victim.old);
    const bool died = round / static_cast<int>(all.size()) % 2 == 0 ? kill_after_a_time(victim) : kill_at_a_call(victim);
    killed += died;
    ++(died ? counts[who].killed : counts[who].too_late);
    counts[who].unfinished += fs::exists(file.string() + ".new");
    const std::string now = file_bytes(file);
    ASSERT_TRUE(now == victim.old || now == victim.fresh) << "a broken file of " << now.size() << " bytes";
    ++(now == victim.old ? counts[who].old_file : counts[who].new_file);
    const Ran next = run_assay(victim.command.arguments, victim.command.environment);
    ASSERT_EQ(next.status, 0) << next.err;
    ASSERT_TRUE(file_bytes(file) == victim.fresh) << "the next writer's file";
    ASSERT_FALSE(fs::exists(file.string() + ".new"));
  }
  int sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::cout << all[i].command.name << ": " << counts[i].killed << " kills, " << counts[i].too_late
              << " came too late; the old file " << counts[i].old_file << " times, the new one " << counts[i].new_file << "; "
              << counts[i].unfinished << " unfinished files taken over\n";
    sum += counts[i].killed;
  }
  EXPECT_GE(sum, wanted);
  RecordProperty("kills", sum);
}

}  // namespace
}  // namespace assay::faults
