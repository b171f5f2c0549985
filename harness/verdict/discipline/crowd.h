// Callers of one kernel that meet in the middle of their calls, however few cores the processor has and however short the calls are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace assay {

// Each caller is stopped by a timer some microseconds after it entered the kernel, in another crowd at another time, and then each time twice
// as late. It goes on when another has ended, or after a while.
class Crowd {
 public:
  explicit Crowd(std::size_t callers);
  // On this thread; `caller` is its number.
  void run(std::size_t caller, const std::function<void()>& body);

  // While it lives this thread, if it is a caller's, is stopped.
  class Stops {
   public:
    Stops();
    Stops(const Stops&) = delete;
    Stops& operator=(const Stops&) = delete;
    ~Stops();
  };

  // Of the signal that stops callers. It stays for good; the first crowd installs it, if nobody has.
  static void install_handler();

 private:
  class Timed;
  void wait_for_another();

  int callers_;
  std::uint64_t seed_;
  std::atomic<int> stopped_{0};
  std::atomic<int> ended_{0};
};

}  // namespace assay
