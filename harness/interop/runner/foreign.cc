#include "harness/interop/runner/foreign.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <future>
#include <new>
#include <stdexcept>
#include <utility>

#include "harness/interop/runner/tighten.h"

namespace assay {
namespace {

constexpr std::uint64_t kAllButAlarm = ~(std::uint64_t{1} << (SIGALRM - 1));  // which ends the process, and has no handler

// By the system call: the C library keeps two signals for itself, and lets nobody block them.
std::uint64_t set_mask(std::uint64_t mask) {
  std::uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

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
      ~End() {
        const std::lock_guard lock(foreign.mutex_);
        foreign.ended_ = true;
        foreign.foreign_.notify_one();
      }
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

void Foreign::run_what_is_asked() {
  std::unique_lock lock(mutex_);
  for (;;) {
    foreign_.wait(lock, [this] { return body_ != nullptr || ended_; });
    if (ended_) return;
    lock.unlock();
    std::optional<std::string> thrown;
    try {
      (*body_)();
    } catch (const std::exception& error) {
      thrown = error.what();
    } catch (...) {
      thrown = "threw what is no std::exception";
    }
    lock.lock();
    thrown_ = std::move(thrown);
    body_ = nullptr;
    keeper_.notify_one();
  }
}

void Foreign::run(const std::function<void()>& body) {
  if (serving_) {
    std::unique_lock lock(mutex_);
    thrown_.reset();
    body_ = &body;
    foreign_.notify_one();
    while (body_ != nullptr) {
      keeper_.wait(lock, [this] { return body_ == nullptr || wanted_; });
      if (wanted_) provide();
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
    given_ = &memories_.emplace_back(*wanted_);
  } catch (const std::bad_alloc&) {  // given_ says so
  }
  wanted_.reset();
  foreign_.notify_all();
}

const GuardedMemory& Foreign::memory(std::size_t bytes) {
  const std::lock_guard one(asking_);
  std::unique_lock lock(mutex_);
  wanted_ = bytes;
  if (serving_) {
    keeper_.notify_one();
    foreign_.wait(lock, [this] { return !wanted_; });
  } else {
    provide();
  }
  if (given_ == nullptr) throw std::bad_alloc();
  return *given_;
}

}  // namespace assay
