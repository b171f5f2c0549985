#include "harness/verdict/bench/roof.h"

#include <algorithm>
#include <numeric>

#include "harness/verdict/clock.h"

namespace assay::bench {
namespace {

constexpr std::size_t kReadBytes = std::size_t{32} << 20;
constexpr std::size_t kPieceBytes = std::size_t{2} << 20;  // of a reading: a huge page
constexpr std::int64_t kPeakIterations = 1 << 17;
constexpr int kTrials = 5;          // of each loop, before the race
constexpr std::size_t kInRace = 4;  // measured in every round

const PeakLoop* find_peak(Peak peak) {
  for (const PeakLoop& loop : peak_loops()) {
    if (loop.peak == peak && isa_supported(loop.isa)) return &loop;
  }
  return nullptr;
}

// Such steps come to every piece before one again, and a few of them to every region.
std::size_t far_step(std::size_t pieces) {
  constexpr double kGoldenSection = 0.618;
  auto step = static_cast<std::size_t>(kGoldenSection * static_cast<double>(pieces));
  while (std::gcd(step, pieces) != 1) --step;
  return step;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Peak fma_peak(Isa isa) noexcept {
  if (isa_includes(isa, Isa::avx512)) return Peak::fma_avx512;
  return isa_includes(isa, Isa::avx2) ? Peak::fma_avx2 : Peak::fma_scalar;
}

std::optional<Peak> int8_peak(Isa isa) noexcept {
  for (const PeakLoop& loop : peak_loops()) {
    if (loop.isa == isa && loop.peak >= Peak::dot_avxvnni) return loop.peak;
  }
  return std::nullopt;
}

// The table goes up.
std::optional<Peak> best_peak(bool of_bytes) noexcept {
  std::optional<Peak> best;
  for (const PeakLoop& loop : peak_loops()) {
    if (isa_supported(loop.isa) && (loop.peak >= Peak::dot_avxvnni) == of_bytes) best = loop.peak;
  }
  return best;
}

std::string Roofs::Candidate::name() const {
  return std::string(loop->name) + (pages == Pages::huge ? ", huge pages" : ", small pages");
}

Roofs::Roofs() : memory_{PageBuffer(cold_bytes(), Pages::small), PageBuffer(cold_bytes(), Pages::huge)} {
  for (const ReadLoop& loop : read_loops()) {
    if (!isa_supported(loop.isa)) continue;
    for (const Pages pages : {Pages::small, Pages::huge}) {
      Candidate candidate{&loop, pages, 0};
      std::vector<double> trials;
      trials.reserve(kTrials);
      for (int trial = 0; trial < kTrials; ++trial) trials.push_back(read(candidate));
      candidate.gbytes_per_second = median(trials);
      candidates_.push_back(candidate);
    }
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.gbytes_per_second > b.gbytes_per_second; });
  candidates_.resize(std::min(candidates_.size(), kInRace));
}

double Roofs::read(std::size_t candidate) {
  return read(candidates_.at(candidate));
}

double Roofs::read(const Candidate& candidate) {
  const PageBuffer& memory = memory_[candidate.pages == Pages::huge ? 1 : 0];
  const std::size_t piece = std::min(kPieceBytes, memory.size()) / kReadUnit * kReadUnit;
  const std::size_t pieces = memory.size() / piece;
  const std::size_t step = far_step(pieces);
  const std::size_t count = std::min(kReadBytes / piece, pieces);
  const double start = thread_seconds();
  // One place for all loops: each reads where none has read for a whole round of the buffer. Some of it may be read half as fast as the rest:
  // every reading has pieces from all over it.
  for (std::size_t i = 0; i < count; ++i) {
    place_ = (place_ + step) % pieces;
    candidate.loop->run(memory.data() + place_ * piece, piece);
  }
  return 1e-9 * static_cast<double>(count * piece) / (thread_seconds() - start);
}

double Roofs::compute(Peak peak) const {
  const PeakLoop* loop = find_peak(peak);
  if (loop == nullptr) return 0;
  const double start = thread_seconds();
  loop->run(kPeakIterations);
  return 1e-9 * loop->operations * static_cast<double>(kPeakIterations) / (thread_seconds() - start);
}

void Roofs::evict() {
  const PageBuffer& memory = memory_[1];
  candidates_.front().loop->run(memory.data(), memory.size() / kReadUnit * kReadUnit);
}

void Rounds::read_roofs() {
  for (std::size_t i = 0; i < read_.size(); ++i) read_[i].push_back(roofs_.read(i));
}

void Rounds::compute_roof(Peak peak) {
  if (const PeakLoop* loop = find_peak(peak)) peak_name_ = loop->name;
  compute_.push_back(roofs_.compute(peak));
}

void Rounds::kernel(double seconds) {
  seconds_.push_back(seconds);
}

double Rounds::share(const std::vector<double>& roof, double amount) const {
  std::vector<double> shares;
  for (std::size_t i = 0; i < std::min(roof.size(), seconds_.size()); ++i) {
    shares.push_back(1e-9 * amount / seconds_[i] / roof[i]);
  }
  return median(std::move(shares));
}

double Rounds::most_read() const {
  double most = 0;
  for (const std::vector<double>& one : read_) {
    for (const double reading : one) most = std::max(most, reading);
  }
  return most;
}

Rounds::Ratio Rounds::of_read(double bytes) const {
  Ratio best;
  for (std::size_t i = 0; i < read_.size(); ++i) {
    const Ratio one{share(read_[i], bytes), median(read_[i]), roofs_.candidates()[i].name()};
    if (i == 0 || one.share < best.share) best = one;
  }
  return best;
}

Rounds::Ratio Rounds::of_compute(double operations) const {
  return {share(compute_, operations), median(compute_), peak_name_};
}

}  // namespace assay::bench
