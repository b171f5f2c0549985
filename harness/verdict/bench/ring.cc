#include "harness/verdict/bench/ring.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::bench {
namespace {

constexpr double kMostGrowth = 8;     // of a batch over the one before: a single quick call may be one whose work had been done
constexpr double kMostCrossing = 16;  // times what is left when it is taken off: more would be a misreading

}  // namespace

Ring::Ring(const TimedCase& timed, const TimedKernel& kernel, const RunnerOptions& options, Temperature temperature,
           std::uint64_t seed)
    : timed_(timed),
      packs_(!kernel.packed_tensor.empty()),
      temperature_(temperature),
      runner_(options, timed.op().name, kernel.variant, timed.request(timed.slots()), /*huge=*/true),
      next_seed_(seed),
      poison_(mixed(seed)),
      seeds_(timed.slots()) {
  fill(0, seeds_.size());
}

void Ring::fill(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) seeds_[(first + i) % seeds_.size()] = next_seed_++;
  runner_.fill(request(packs_ ? wire::FillRequest::packed : wire::FillRequest::all, first, count));
}

wire::FillRequest Ring::request(wire::FillRequest::What what, std::uint64_t first, std::uint64_t count) const {
  wire::FillRequest request{.what = what, .poison = poison_, .laps = 1, .first = first, .seeds = {}};
  for (std::uint64_t i = 0; i < count; ++i) request.seeds.push_back(seeds_[(first + i) % seeds_.size()]);
  return request;
}

// Cold slots are filled when they have been used, and come round when the caches have seen all others; warm ones just before.
CallTime Ring::run(double seconds, double call_seconds, TimedRunner& ours) {
  const double most = kMostGrowth * static_cast<double>(std::max<std::uint64_t>(crossing_.calls, 1));
  const double wanted = call_seconds > 0 ? std::min(std::ceil(seconds / call_seconds), most) : 1;
  const auto calls = static_cast<std::uint64_t>(std::min(wanted, static_cast<double>(most_calls())));
  laps_ =
      timed_.has_laps() ? static_cast<std::uint64_t>(std::clamp(wanted / static_cast<double>(calls), 1.0, double{kMostLaps})) : 1;
  const std::uint64_t first = next_;
  wire::TimeRequest time{.first = first, .count = calls, .laps = laps_, .dry = true};
  if (laps_ > 1) ours.run(time);  // its slots come into the caches, as the kernel's will be
  const TimedReading nothing = ours.run(time);
  // The least of all batches of this size: a crossing that was disturbed would make the calls too fast.
  if (std::exchange(crossing_.calls, calls * laps_) != calls * laps_)
    crossing_.cpu = crossing_.wall = std::numeric_limits<double>::infinity();
  crossing_.cpu = std::min(crossing_.cpu, nothing.cpu);
  crossing_.wall = std::min(crossing_.wall, nothing.wall);
  if (temperature_ == Temperature::warm) fill(first, calls);
  if (packs_) runner_.fill(request(wire::FillRequest::others, first, calls));
  used_.clear();
  for (std::uint64_t i = 0; i < calls; ++i) used_.push_back(seeds_[(first + i) % seeds_.size()]);
  time.dry = false;
  const TimedReading reading = runner_.run(time);
  next_ = (first + calls) % seeds_.size();
  const auto each = static_cast<double>(calls * laps_);
  const auto net = [&](double all, double crossing) { return std::max(all - crossing, all / kMostCrossing) / each; };
  return {net(reading.cpu, crossing_.cpu), net(reading.wall, crossing_.wall), reading.threads};
}

void Ring::renew() {
  if (temperature_ == Temperature::cold && !packs_) fill(0, seeds_.size());
}

void Ring::refill() {
  if (temperature_ == Temperature::cold) fill((next_ + seeds_.size() - used_.size()) % seeds_.size(), used_.size());
}

}  // namespace assay::bench
