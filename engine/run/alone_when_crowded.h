#pragma once

namespace assay {

// Whether the caller's thread runs passes of one token alone. Beside a program that has the cores too, threads that meet at every step wait for
// each other to be given one, and a single thread is then several times as fast. Each way is tried and timed, but only once waits end in sleep.
class AloneWhenCrowded {
 public:
  bool alone() const { return alone_; }
  // A pass as alone() told took so long; `slept`: threads slept in it to wait for each other.
  void took(double seconds, bool slept) {
    if (trying_) {
      trying_ = false;
      if (seconds >= other_) alone_ = !alone_;
      left_ = kBetween;
    } else if (left_ > 0) {
      --left_;
    } else if (alone_ || slept) {
      other_ = seconds;
      alone_ = !alone_;
      trying_ = true;
    }
  }

 private:
  static constexpr int kBetween = 16;  // passes between two tries

  bool alone_ = false;
  bool trying_ = false;
  int left_ = 0;
  double other_ = 0;  // seconds, of the way that was left for the try
};

}  // namespace assay
