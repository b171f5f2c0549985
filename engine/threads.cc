#include "engine/threads.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "kernels/isa.h"

namespace assay {
namespace {

// Microseconds. The most is longer than threads that have cores of their own wait for each other between two steps, the least a fraction of
// what going to sleep costs.
constexpr int kMostSpin = 50;
constexpr int kLeastSpin = 2;

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

IndexRange SharedRange::take(std::int64_t count, std::int64_t least, int threads) {
  const std::int64_t parts = 2 * std::int64_t{threads};  // of what is left
  std::int64_t begin = next_.load(std::memory_order_relaxed);
  std::int64_t end = begin;
  do {
    const std::int64_t left = count - begin;
    if (left <= 0) return {count, count};
    end = begin + std::min(left, std::max(least, left / parts / least * least));
  } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  return {begin, end};
}

Team::Team(int threads)
    : slices_(threads > 1),
      parts_(std::max(threads, 1)),
      spin_(parts_ > 1 && parts_ <= static_cast<int>(std::thread::hardware_concurrency()) ? kMostSpin : 0) {
  others_.reserve(static_cast<std::size_t>(parts_ - 1));
  try {
    for (int part = 1; part < parts_; ++part) others_.emplace_back([this, part] { work(part); });
  } catch (const std::system_error& error) {
    end_early();
    throw std::system_error(error.code(),
                            "thread " + std::to_string(size() + 1) + " of " + std::to_string(parts_) + " cannot be started");
  } catch (...) {
    end_early();
    throw;
  }
}

Team::~Team() {
  end();
}

void Team::end_early() {
  arrived_ += parts_ - size();  // in the place of those that could not be started
  end();
}

void Team::end() {
  body_ = nullptr;
  barrier(0);
  for (std::thread& other : others_) other.join();
}

// A run begins when the caller comes to the barrier at which the others wait, and ends at the next.
void Team::work(int part) {
  for (;;) {
    barrier(part);
    if (body_ == nullptr) return;
    run_part(part);
    barrier(part);
  }
}

void Team::run(const std::function<void(int)>& body) {
  body_ = &body;
  barrier(0);
  run_part(0);
  barrier(0);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::run_part(int part) {
  try {
    assert_float_environment();
    (*body_)(part);
  } catch (...) {
    const std::lock_guard lock(failing_);
    if (!error_) error_ = std::current_exception();
  }
}

void Team::barrier(int part) {
  if (parts_ == 1) return;
  const int turn = turn_.load(std::memory_order_relaxed);  // grows only once this thread has arrived
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < parts_) return await_turn_after(turn, part);
  arrived_.store(0, std::memory_order_relaxed);
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_all();
}

// Spinning in vain halves how long the next ones spin, success makes it longer by a step: beside another program that has the cores too,
// where the awaited thread does not run, spinning costs that program its time.
void Team::await_turn_after(int turn, int part) {
  const int spin = spin_.load(std::memory_order_relaxed);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(spin);
  constexpr int kLooks = 32;  // between two looks at the clock
  while (spin > 0 && std::chrono::steady_clock::now() < deadline) {
    for (int look = 0; look < kLooks; ++look) {
      if (turn_.load(std::memory_order_acquire) != turn) {
        if (spin < kMostSpin) spin_.store(spin + 1, std::memory_order_relaxed);
        return;
      }
      pause_core();
    }
  }
  if (spin > 0) spin_.store(std::max(spin / 2, kLeastSpin), std::memory_order_relaxed);
  const auto asleep = std::chrono::steady_clock::now();
  turn_.wait(turn, std::memory_order_acquire);
  if (part == 0) slept_ += std::chrono::steady_clock::now() - asleep;
}

void parallel_ranges(Team& team, std::int64_t count, std::int64_t unit,
                     const std::function<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t units = (count + unit - 1) / unit;
  const auto parts = static_cast<int>(std::clamp<std::int64_t>(team.size(), 1, std::max<std::int64_t>(units, 1)));
  team.run([&](int part) {
    if (part >= parts) return;
    const IndexRange range = range_of_part(units, part, parts);
    body(range.begin * unit, std::min(count, range.end * unit));
  });
}

void parallel_blocks(Team& team, std::int64_t count, std::int64_t block,
                     const std::function<void(std::int64_t, std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  team.run([&](int) {
    for (std::int64_t begin = next.fetch_add(block); begin < count; begin = next.fetch_add(block))
      body(begin, std::min(count, begin + block));
  });
}

}  // namespace assay
