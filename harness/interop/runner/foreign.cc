#include "harness/interop/runner/foreign.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <exception>
#include <future>
#include <new>
#include <stdexcept>

#include "harness/interop/runner/signals.h"
#include "harness/interop/runner/tighten.h"

namespace assay {
namespace {

// What the two threads give up together; why they could not, in words.
std::string give_up(Arena& arena) {
  if (const int error = give_up_others(); error != 0) return strerror(error);
  arena = reserve_arena();
  if (arena.begin == nullptr) return "no address space for it";
  keep_guarded_memory_in(arena.begin, arena.bytes);
  return {};
}

}  // namespace

int Foreign::serve(int in, int out, bool bound, const std::function<int()>& keeper) {
  Arena arena;
  if (bound) unbound_ = give_up(arena);
  serving_ = true;
  std::promise<void> begun;
  const std::uint64_t mask = set_mask(kAllButAlarm);
  auto kept = std::async(std::launch::async, [&, begin = begun.get_future()]() mutable {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    begin.wait();
    // Says so however it ends.
    struct End {
      Foreign& foreign;
      ~End() { foreign.say(keeper_has_ended); }
    } const end{*this};
    return keeper();
  });
  set_mask(mask);
  if (unbound_.empty()) {
    if (const int error = give_up_arena(arena, in, out); error != 0) unbound_ = strerror(error);
  }
  begun.set_value();
  run_what_is_asked();
  return kept.get();
}

void Foreign::say(Turn turn) {
  turn_ = turn;
  syscall(SYS_futex, &turn_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// The standard library's wait yields first, which costs a time slice where others want it.
void Foreign::await_another(int turn) {
  syscall(SYS_futex, &turn_, FUTEX_WAIT_PRIVATE, turn, nullptr, nullptr, 0);
}

void Foreign::run_what_is_asked() {
  for (int turn = turn_; turn != keeper_has_ended; turn = turn_) {
    if (turn != first_runs) {
      await_another(turn);
      continue;
    }
    thrown_.reset();
    try {
      (*body_)();
    } catch (const std::exception& error) {
      thrown_ = error.what();
    } catch (...) {
      thrown_ = "threw what is no std::exception";
    }
    say(first_is_done);
  }
}

void Foreign::run(const std::function<void()>& body) {
  if (serving_) {
    body_ = &body;
    say(first_runs);
    for (int turn = turn_; turn != first_is_done; turn = turn_) {
      if (turn == first_wants_memory) {
        provide();
        say(memory_is_there);
      } else {
        await_another(turn);
      }
    }
  } else {
    body();
  }
  memories_.clear();
  if (thrown_) throw std::runtime_error(*thrown_);
}

void Foreign::provide() {
  given_ = nullptr;
  try {
    given_ = &memories_.emplace_back(wanted_);
  } catch (const std::bad_alloc&) {  // given_ says so
  }
}

const GuardedMemory& Foreign::memory(std::size_t bytes) {
  const std::lock_guard one(asking_);
  wanted_ = bytes;
  if (serving_) {
    say(first_wants_memory);
    while (turn_ == first_wants_memory) await_another(first_wants_memory);
  } else {
    provide();
  }
  if (given_ == nullptr) throw std::bad_alloc();
  return *given_;
}

}  // namespace assay
