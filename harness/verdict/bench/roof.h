// What this machine can do at most, measured again and again beside the kernel: on a shared machine the
// bandwidth may halve for seconds, so only readings taken in turn with the kernel mean anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/verdict/bench/buffer.h"
#include "harness/verdict/bench/loops.h"

namespace assay::bench {

double median(std::vector<double> values);  // 0 if empty

// The peaks that kernels of `isa` are held to: f32 arithmetic, and products of bytes (none without VNNI).
Peak fma_peak(Isa isa) noexcept;
std::optional<Peak> int8_peak(Isa isa) noexcept;
// The highest that this CPU has of either kind.
std::optional<Peak> best_peak(bool of_bytes) noexcept;

class Roofs {
 public:
  // Takes twice cold_bytes() of memory and about half a second, in which every read loop is tried on small and
  // on huge pages; the best few stay in the race.
  Roofs();

  struct Candidate {
    const ReadLoop* loop = nullptr;
    Pages pages = Pages::huge;
    double gbytes_per_second = 0;  // when the race began
    std::string name() const;      // "512 bits, 4 streams, prefetch, huge pages"
  };
  const std::vector<Candidate>& candidates() const noexcept { return candidates_; }

  // Reads memory that is in no cache for about a millisecond; GB/s.
  double read(std::size_t candidate);
  // Calculates for about a millisecond; 10^9 operations a second. 0 if this program has no such loop.
  double compute(Peak peak) const;
  // Fills the caches with memory of its own.
  void evict();

 private:
  double read(const Candidate& candidate);

  std::array<PageBuffer, 2> memory_;  // by Pages
  std::size_t place_ = 0;             // the piece that was read last
  std::vector<Candidate> candidates_;
};

// Readings of one kernel and of the roofs beside it, round by round.
class Rounds {
 public:
  explicit Rounds(Roofs& roofs) : roofs_(roofs), read_(roofs.candidates().size()) {}

  void read_roofs();
  void compute_roof(Peak peak);
  // The kernel in the same round: calls that took `seconds` each.
  void kernel(double seconds);

  std::size_t size() const noexcept { return seconds_.size(); }
  double seconds() const { return median(seconds_); }

  struct Ratio {
    double share = 0;      // of the roof: the median of the rounds' ratios
    double roof = 0;       // GB/s or 10^9 operations a second: the median
    std::string measured;  // how: the name of the loop
  };
  // The largest readings of all.
  double most_read() const;
  double most_compute() const { return compute_.empty() ? 0 : *std::ranges::max_element(compute_); }
  // The roof is the loop beside which the kernel looks worst.
  Ratio of_read(double bytes) const;
  Ratio of_compute(double operations) const;

 private:
  double share(const std::vector<double>& roof, double amount) const;

  Roofs& roofs_;
  std::vector<std::vector<double>> read_;  // by candidate
  std::vector<double> compute_;
  std::string peak_name_;
  std::vector<double> seconds_;
};

}  // namespace assay::bench
