#include "harness/interop/runner/foreign_thread.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

// By the system call: the C library keeps two signals for itself, and lets nobody block them.
std::uint64_t set_mask(std::uint64_t mask) {
  std::uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

}  // namespace

ForeignThread::ForeignThread(int in, int out, bool bound) {
  if (bound) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    mask_ = set_mask(~(std::uint64_t{1} << (SIGALRM - 1)));
  }
  if (!bound) {
    unbound_ = "not asked for";
  } else if (const int error = give_up_others(); error != 0) {
    unbound_ = strerror(error);
  } else if (arena_ = reserve_arena(); arena_.begin == nullptr) {
    unbound_ = "no address space for it";
  } else {
    keep_guarded_memory_in(arena_.begin, arena_.bytes);
  }
  thread_ = std::thread([=, this] { serve(in, out, unbound_.empty()); });
  std::unique_lock lock(mutex_);
  owner_.wait(lock, [this] { return ready_; });
}

ForeignThread::~ForeignThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  foreign_.notify_one();
  thread_.join();
}

void ForeignThread::run(const std::function<void()>& body) {
  std::unique_lock lock(mutex_);
  thrown_.reset();
  body_ = &body;
  foreign_.notify_one();
  for (;;) {
    owner_.wait(lock, [this] { return body_ == nullptr || wanted_ != 0; });
    if (body_ == nullptr) break;
    provide();
  }
  memories_.clear();
  if (thrown_) throw std::runtime_error(*thrown_);
}

void ForeignThread::provide() {
  try {
    given_ = &memories_.emplace_back(wanted_ - 1);
  } catch (const std::bad_alloc&) {
    given_ = nullptr;
  }
  wanted_ = 0;
  provided_ = true;
  foreign_.notify_all();
}

const GuardedMemory& ForeignThread::memory(std::size_t bytes) {
  const std::lock_guard one(asking_);
  std::unique_lock lock(mutex_);
  wanted_ = bytes + 1;
  provided_ = false;
  owner_.notify_one();
  foreign_.wait(lock, [this] { return provided_; });
  if (given_ == nullptr) throw std::bad_alloc();
  return *given_;
}

void ForeignThread::serve(int in, int out, bool bound) {
  if (const int error = bound ? give_up_arena(arena_, in, out) : 0; error != 0) unbound_ = strerror(error);
  set_mask(mask_);
  std::unique_lock lock(mutex_);
  ready_ = true;
  owner_.notify_one();
  for (;;) {
    foreign_.wait(lock, [this] { return body_ != nullptr || ends_; });
    if (ends_) return;
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
    owner_.notify_one();
  }
}

}  // namespace assay
