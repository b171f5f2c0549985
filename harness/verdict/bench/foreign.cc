#include "harness/verdict/bench/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "golden/sha256.h"
#include "harness/verdict/bench/roof.h"
#include "harness/verdict/check.h"
#include "harness/verdict/declaration.h"
#include "harness/verdict/discipline/poison.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/op_run.h"
#include "harness/verdict/strided.h"

namespace assay::bench {
namespace {

constexpr int kMostBatches = 8;  // of a round
constexpr double kBatches = 4;   // at least, where there are laps: of each the last lap's outputs are looked at
constexpr double kMostDrawn = 8;

// Puts what was written elsewhere in the place of a kernel's work.
class Replay final : public Executor {
 public:
  explicit Replay(const std::vector<Array>& outputs) : outputs_(outputs) {}
  Execution run(const Call& call, std::span<const CallPart> parts, const Manner&) override {
    auto output = outputs_.begin();
    const std::vector<TensorSpec>& tensors = call.signature().tensors;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (tensors[t].role == Direction::out) scatter(tensors[t], *output++, parts[0].pointers[t]);
    }
    return {};
  }

 private:
  const std::vector<Array>& outputs_;
};

// How far outputs are from others, of their largest number; infinite where one is finite and the other not. Of blocks the share of bytes that
// differ.
double distance_of(const std::vector<Array>& outputs, const std::vector<Array>& others) {
  double farthest = 0;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Array& one = outputs[o];
    if (one.bytes == others[o].bytes) continue;
    const std::size_t size = dtype_size(one.dtype);
    double largest = 0;
    double apart = 0;
    for (std::size_t at = 0; at < one.bytes.size(); at += size) {
      if (is_block(one.dtype)) {
        apart += one.bytes[at] != others[o].bytes[at];
        largest += 1;
        continue;
      }
      const double a = element_as_double(one.dtype, &one.bytes[at]);
      const double b = element_as_double(one.dtype, &others[o].bytes[at]);
      if (std::isfinite(a) != std::isfinite(b)) return std::numeric_limits<double>::infinity();
      if (!std::isfinite(b)) continue;
      largest = std::max(largest, std::fabs(b));
      apart = std::max(apart, std::fabs(a - b));
    }
    farthest = std::max(farthest, largest > 0 ? apart / largest : apart);
  }
  return farthest;
}

}  // namespace

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) + device();
}

RunnerOptions without_plugins(RunnerOptions options) {
  options.plugins.clear();
  return options;
}

std::string our_best(const Op& op) {
  return select_kernel(*op.table, std::nullopt).name;
}

Ring::Ring(const TimedCase& timed, const TimedKernel& kernel, const RunnerOptions& options, Temperature temperature,
           std::uint64_t seed)
    : timed_(timed),
      packs_(!kernel.packed_tensor.empty()),
      temperature_(temperature),
      runner_(options, timed.op(), kernel.variant, timed.request(timed.slots())),
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
  constexpr double kMostLaps = 256;
  const double wanted = call_seconds > 0 ? std::ceil(seconds / call_seconds) : 1;
  const auto calls = static_cast<std::uint64_t>(std::min(wanted, static_cast<double>(most_calls())));
  laps_ = timed_.has_laps() ? static_cast<std::uint64_t>(std::clamp(wanted / static_cast<double>(calls), 1.0, kMostLaps)) : 1;
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
  const auto net = [&](double all, double crossing) { return std::max(all - crossing, all / 4) / each; };
  return {net(reading.cpu, crossing_.cpu), net(reading.wall, crossing_.wall), reading.threads};
}

void Ring::refill() {
  if (temperature_ == Temperature::cold) fill((next_ + seeds_.size() - used_.size()) % seeds_.size(), used_.size());
}

ForeignTimer::ForeignTimer(const Op& op, const Params& params, Temperature temperature, TimedKernel kernel,
                           const RunnerOptions& options, double round_seconds, bool trusted)
    : op_(op),
      kernel_(std::move(kernel)),
      round_seconds_(round_seconds),
      timed_(op, params, temperature, kernel_.packed_tensor),
      ring_(timed_, kernel_, options, temperature, random_seed()),
      coin_(random_seed()),
      most_drawn_(static_cast<std::size_t>(std::clamp(kMostDrawn * kWholeTruth / work_of(op, params), 1.0, kMostDrawn))) {
  if (trusted) return;
  untimed_.emplace(options, op.name, kernel_.variant, timed_.request(timed_.slots()));
  ours_.emplace(without_plugins(options), op.name, our_best(op), timed_.request(timed_.slots()));
}

CallTime ForeignTimer::round() {
  std::vector<CallTime> batches;
  const double batch =
      timed_.has_laps() ? round_seconds_ / kBatches : round_seconds_;  // the first call of each meets a cold core
  double spent = 0;
  while (std::ssize(batches) < kMostBatches && spent < round_seconds_) {
    batches.push_back(ring_.run(batch, call_seconds_, ours_ ? *ours_ : ring_.runner()));
    call_seconds_ = batches.back().cpu;
    spent += call_seconds_ * static_cast<double>(ring_.seeds().size() * ring_.laps());
    if (ring_.runner().status() != ASSAY_OK)
      throw TimedFailure(fmt::format("refused a timed call (status {})", static_cast<int>(ring_.runner().status())));
    if (untimed_) hold_outputs();
    ring_.refill();
  }
  CallTime round;
  for (const CallTime& one : batches) round.threads = std::max(round.threads, one.threads);
  const auto of = [&](double CallTime::*member) {
    std::vector<double> all;
    for (const CallTime& one : batches) all.push_back(one.*member);
    return median(all);
  };
  round.cpu = of(&CallTime::cpu);
  round.wall = of(&CallTime::wall);
  return round;
}

void ForeignTimer::hold_outputs() {
  std::vector<std::vector<Array>> timed;
  for (std::size_t call = 0; call < ring_.seeds().size(); ++call)
    timed.push_back(timed_.outputs([&](std::size_t tensor) { return ring_.runner().output(call, tensor); }));
  hold_to_untimed(timed);
  hold_to_ours(std::move(timed));
}

// The same calls in another order, hence at other addresses, and over other poison.
void ForeignTimer::hold_to_untimed(const std::vector<std::vector<Array>>& outputs) {
  const std::vector<std::size_t> order = shuffled(ring_.seeds().size(), split_mix(coin_));
  wire::FillRequest request{.poison = coin_, .laps = ring_.laps(), .seeds = {}};
  for (const std::size_t call : order) request.seeds.push_back(ring_.seeds()[call]);
  untimed_->fill(request);
  untimed_->run({.count = order.size()});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<Array>& timed = outputs[order[i]];
    const auto untimed = timed_.outputs([&](std::size_t tensor) { return untimed_->output(i, tensor); });
    for (std::size_t o = 0; o < timed.size(); ++o) {
      if (timed[o].bytes == untimed[o].bytes) continue;
      const auto at = std::ranges::mismatch(timed[o].bytes, untimed[o].bytes).in1 - timed[o].bytes.begin();
      throw TimedFailure(
          fmt::format("timed, call {} of batch {} wrote other bytes to {} than the same call untimed (byte {} of {})",
                      order[i] + 1, batches_ + 1, timed_.output_name(o), at, timed[o].bytes.size()));
    }
  }
  ++batches_;
}

void ForeignTimer::hold_to_ours(std::vector<std::vector<Array>> timed) {
  const std::vector<std::uint64_t>& seeds = ring_.seeds();
  ours_->fill({.poison = coin_, .laps = ring_.laps(), .seeds = seeds});
  ours_->run({.count = seeds.size()});
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    draw(seeds[i], timed[i]);
    const double distance = distance_of(timed[i], timed_.outputs([&](std::size_t tensor) { return ours_->output(i, tensor); }));
    if (distance > farthest_.distance) farthest_ = {distance, seeds[i], ring_.laps(), std::move(timed[i])};
  }
}

// Each call is kept with the same chance, however many come.
void ForeignTimer::draw(std::uint64_t seed, const std::vector<Array>& outputs) {
  const std::uint64_t place = calls_ < most_drawn_ ? calls_ : split_mix(coin_) % (calls_ + 1);
  ++calls_;
  if (place >= most_drawn_) return;
  if (place == drawn_.size()) drawn_.emplace_back();
  drawn_[place] = {0, seed, ring_.laps(), outputs};
}

std::string ForeignTimer::digest(std::uint64_t seed) {
  constexpr std::uint64_t kCalls = 2;
  wire::FillRequest request;
  for (std::uint64_t call = 0; call < kCalls; ++call) request.seeds.push_back(seed + call);
  untimed_->fill(request);
  untimed_->run({.count = kCalls});
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t call = 0; call < kCalls; ++call) {
    for (const Array& one : timed_.outputs([&](std::size_t tensor) { return untimed_->output(call, tensor); }))
      bytes.insert(bytes.end(), one.bytes.begin(), one.bytes.end());
  }
  return sha256(bytes);
}

// Of what lies around the outputs nothing is known here, and one call says nothing of bias.
std::string ForeignTimer::judge(const Checks& checks) const {
  const Checks values = checks.only({Check::classes, Check::bound, Check::exact, Check::bits});
  const Checks judged = kernel_.canonical ? values : values.only({Check::classes, Check::bound, Check::exact});
  std::vector<const Sample*> samples{&farthest_};
  for (const Sample& one : drawn_) samples.push_back(&one);
  for (const Sample* sample : samples) {
    Replay replay(sample->outputs);
    CaseCheck check(op_, timed_.case_of(sample->seed, sample->laps), nullptr);
    const Candidate candidate{.name = kernel_.variant,
                              .selection = "",
                              .executor = &replay,
                              .canonical = kernel_.canonical,
                              .arithmetic = arithmetic_of(op_, kernel_.traits.words())};
    const CaseResult result = check.check(candidate, judged);
    if (result.failure)
      return fmt::format("a timed call is wrong ({}): {}", check_name(result.failure->check), result.failure->message);
    if (!candidate.arithmetic.own() && result.nmse > kMostNmse) return "a timed call is wrong (bound): " + no_number(result.nmse);
  }
  return {};
}

}  // namespace assay::bench
