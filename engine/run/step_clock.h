// Where the time of passes goes: what each thread spends in each step, and at the barrier before it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace assay {

struct Pass;
struct Step;

// Filled by Engine::feed while Engine::time_steps names it; read it between passes.
class StepClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // What passes had to do for some of their rows; attention's work is counted in keys.
  struct Share {
    std::int64_t passes = 0;  // that had any such row
    std::int64_t rows = 0;
    std::int64_t keys = 0;   // that a pass reads, the most that its last row sees; summed over passes
    std::int64_t pairs = 0;  // of a row and a key that it sees
  };
  // Of passes of one kind, decode (one token) or prefill.
  struct Work {
    Share all;
    Share of_logits;
    const Share& of(const Step& step) const;
  };
  // Of a step, all threads together.
  struct Spent {
    double busy = 0;     // seconds
    double waiting = 0;  // before it, for other threads
  };

  // `window` as in PlanOptions.
  StepClock(std::size_t steps, int threads, std::int64_t window);

  static Time now() { return std::chrono::steady_clock::now(); }
  void begin(const Pass& pass);
  // Thread `part` came to the step at `came`, began at `began` and ends now, which is returned.
  Time add(bool decode, std::size_t step, int part, Time came, Time began) {
    const Time ended = now();
    Cell& cell = cells_[index(decode, part) * steps_ + step];
    cell.busy += ended - began;
    cell.waiting += began - came;
    return ended;
  }

  const Work& work(bool decode) const { return work_[decode ? 0 : 1]; }
  Spent spent(bool decode, std::size_t step) const;
  int threads() const { return threads_; }

 private:
  void count(Share& share, std::int64_t rows, std::int64_t end) const;
  struct Cell {
    std::chrono::steady_clock::duration busy{};
    std::chrono::steady_clock::duration waiting{};
  };
  // A thread's steps lie together: no two threads write to one line but at its ends.
  std::size_t index(bool decode, int part) const {
    const int lane = decode ? part : threads_ + part;
    return static_cast<std::size_t>(lane);
  }

  std::size_t steps_;
  int threads_;
  std::int64_t window_;
  Work work_[2];
  std::vector<Cell> cells_;
};

}  // namespace assay
