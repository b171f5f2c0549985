#include "harness/verdict/bench/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>
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
constexpr double kEnough = 0.9;             // of a round's time: calls are not all as quick as those before
constexpr double kMostUneven = 1.5;         // the mean of all calls after the first round, of the rounds' median
constexpr std::uint64_t kLapsLookedAt = 2;  // in one batch of so many another lap than the last

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
  while (std::ssize(batches) < kMostBatches && spent < kEnough * round_seconds_) {
    batches.push_back(ring_.run(batch, call_seconds_, ours_ ? *ours_ : ring_.runner()));
    call_seconds_ = batches.back().cpu;
    spent += call_seconds_ * calls_of_batch();
    if (ring_.runner().status() != ASSAY_OK)
      throw TimedFailure(fmt::format("refused a timed call (status {})", static_cast<int>(ring_.runner().status())));
    if (untimed_) {
      hold_outputs_and_refill();
    } else {
      ring_.refill();
    }
    if (!rounds_.empty()) {
      all_seconds_ += batches.back().cpu * calls_of_batch();
      all_calls_ += calls_of_batch();
    }
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
  if (rounds_.empty()) ring_.renew();  // what was done ahead in the first calls, which may take longer, was done for nothing
  rounds_.push_back(round.cpu);
  return round;
}

double ForeignTimer::calls_of_batch() const {
  return static_cast<double>(ring_.seeds().size() * ring_.laps());
}

bool ForeignTimer::is_uneven(double middle) const {
  return all_calls_ > 0 && all_seconds_ / all_calls_ > kMostUneven * middle;
}

// Cold slots hold their data before their turn comes: a call could do the work of many others, and no median would show it. What the machine
// did meanwhile is no kernel's, and does not come again; who is even the second time is held to the times of the first.
std::string ForeignTimer::unevenness() {
  double middle = median(rounds_);
  if (!is_uneven(middle)) return {};
  const std::size_t rounds = rounds_.size();
  rounds_.clear();
  all_seconds_ = all_calls_ = 0;
  for (std::size_t i = 0; i < rounds; ++i) round();
  middle = std::min(middle, median(rounds_));
  if (!is_uneven(middle)) return {};
  return fmt::format("calls take {:.3g} us in the mean and {:.3g} us in the median: some do the work of others",
                     1e6 * all_seconds_ / all_calls_, 1e6 * middle);
}

// Each process fills its memory by itself, which takes longer than the calls do: side by side, once the outputs are taken.
void ForeignTimer::hold_outputs_and_refill() {
  ++batches_;
  std::vector<std::vector<Array>> timed;
  for (std::size_t call = 0; call < ring_.seeds().size(); ++call)
    timed.push_back(timed_.outputs([&](std::size_t tensor) { return ring_.runner().output(call, tensor); }));
  auto fresh = std::async(std::launch::async, [this] { ring_.refill(); });
  const Untimed untimed = in_another_order();
  auto others = std::async(std::launch::async, [&] { hold_to_untimed(timed, untimed); });
  hold_to_ours(timed, ring_.laps());
  others.get();
  fresh.get();
  if (ring_.laps() > 1 && split_mix(coin_) % kLapsLookedAt == 0) hold_a_lap();
}

// The batch's calls as a lap has them, in another process and another order, hence at other addresses, and over other poison.
ForeignTimer::Untimed ForeignTimer::in_another_order() {
  Untimed untimed{.order = shuffled(ring_.seeds().size(), split_mix(coin_)), .seeds = {}, .poison = coin_};
  for (const std::size_t call : untimed.order) untimed.seeds.push_back(ring_.seeds()[call]);
  return untimed;
}

void ForeignTimer::run_untimed(const Untimed& untimed, std::uint64_t laps) {
  untimed_->fill({.poison = untimed.poison, .laps = laps, .seeds = untimed.seeds});
  untimed_->run({.count = untimed.order.size()});
}

void ForeignTimer::hold_to_untimed(const std::vector<std::vector<Array>>& outputs, const Untimed& untimed) {
  run_untimed(untimed, ring_.laps());
  const std::vector<std::size_t>& order = untimed.order;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<Array>& timed = outputs[order[i]];
    const auto again = timed_.outputs([&](std::size_t tensor) { return untimed_->output(i, tensor); });
    for (std::size_t o = 0; o < timed.size(); ++o) {
      if (timed[o].bytes == again[o].bytes) continue;
      const auto at = std::ranges::mismatch(timed[o].bytes, again[o].bytes).in1 - timed[o].bytes.begin();
      throw TimedFailure(
          fmt::format("timed, call {} of batch {} wrote other bytes to {} than the same call untimed (byte {} of {})",
                      order[i] + 1, batches_, timed_.output_name(o), at, timed[o].bytes.size()));
    }
  }
}

// Of laps before the last digests are left. Which one is looked at nobody knew while it was timed.
void ForeignTimer::hold_a_lap() {
  const std::uint64_t lap = split_mix(coin_) % (ring_.laps() - 1);
  const Untimed untimed = in_another_order();
  run_untimed(untimed, lap + 1);
  if (ring_.runner().digest_of_lap(lap) != untimed_->digest_of_last(untimed.seeds))
    throw TimedFailure(fmt::format("timed, lap {} of batch {} wrote other bytes than the same calls untimed", lap + 1, batches_));
  std::vector<std::vector<Array>> outputs(untimed.order.size());
  for (std::size_t i = 0; i < untimed.order.size(); ++i)
    outputs[untimed.order[i]] = timed_.outputs([&](std::size_t tensor) { return untimed_->output(i, tensor); });
  hold_to_ours(outputs, lap + 1);
}

void ForeignTimer::hold_to_ours(const std::vector<std::vector<Array>>& timed, std::uint64_t laps) {
  const std::vector<std::uint64_t>& seeds = ring_.seeds();
  ours_->fill({.poison = coin_, .laps = laps, .seeds = seeds});
  ours_->run({.count = seeds.size()});
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    draw(seeds[i], laps, timed[i]);
    const double distance = distance_of(timed[i], timed_.outputs([&](std::size_t tensor) { return ours_->output(i, tensor); }));
    if (distance > farthest_.distance) farthest_ = {distance, seeds[i], laps, timed[i]};
  }
}

// Each call is kept with the same chance, however many come.
void ForeignTimer::draw(std::uint64_t seed, std::uint64_t laps, const std::vector<Array>& outputs) {
  const std::uint64_t place = calls_ < most_drawn_ ? calls_ : split_mix(coin_) % (calls_ + 1);
  ++calls_;
  if (place >= most_drawn_) return;
  if (place == drawn_.size()) drawn_.emplace_back();
  drawn_[place] = {0, seed, laps, outputs};
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
std::string ForeignTimer::judge(const Checks& checks) {
  if (std::string uneven = unevenness(); !uneven.empty()) return uneven;
  const Checks values = checks.only({Check::classes, Check::bound, Check::spread, Check::exact, Check::bits});
  const Checks judged = kernel_.canonical ? values : values.only({Check::classes, Check::bound, Check::spread, Check::exact});
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
