// Beside a program that has the cores too, threads that meet at every step wait for each other to be given one, and a single thread is then
// several times as fast.
#pragma once

#include <chrono>

namespace assay {

// Whether the caller's thread alone would have been faster than the team: its own work, `parts` times, against all that it took.
inline bool better_alone(int parts, std::chrono::nanoseconds slept, std::chrono::nanoseconds took) {
  return parts * (took - slept) < took;
}

// Whether the caller's thread runs passes of one token alone. Each way is tried and timed, but only once the team's looks slow.
class AloneWhenCrowded {
 public:
  bool alone() const { return alone_; }
  // A pass as alone() told took so long; `crowded`: better_alone.
  void took(std::chrono::nanoseconds time, bool crowded) {
    if (trying_) {
      trying_ = false;
      if (time >= other_) alone_ = !alone_;
      left_ = kBetween;
    } else if (left_ > 0) {
      --left_;
    } else if (alone_ || crowded) {
      other_ = time;
      alone_ = !alone_;
      trying_ = true;
    }
  }

 private:
  static constexpr int kBetween = 16;  // passes between two tries

  bool alone_ = false;
  bool trying_ = false;
  int left_ = 0;
  std::chrono::nanoseconds other_{0};  // of the way that was left for the try
};

}  // namespace assay
