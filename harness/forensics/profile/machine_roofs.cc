#include "harness/forensics/profile/machine_roofs.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "engine/threads.h"
#include "harness/verdict/bench/roof.h"

namespace assay::profile {
namespace {

constexpr int kRounds = 31;

// The median over rounds of what all threads together do, each round begun together.
double together(Team& team, const std::function<double(int)>& one) {
  std::vector<double> sums;
  std::vector<double> each(static_cast<std::size_t>(team.size()));
  for (int round = 0; round < kRounds; ++round) {
    team.run([&](int part) { each[static_cast<std::size_t>(part)] = one(part); });
    double sum = 0;
    for (const double rate : each) sum += rate;
    sums.push_back(sum);
  }
  return bench::median(std::move(sums));
}

}  // namespace

Roofs measure_roofs(int threads, Isa isa) {
  std::vector<std::unique_ptr<bench::Roofs>> own;
  for (int i = 0; i < threads; ++i) own.push_back(std::make_unique<bench::Roofs>());
  Team team(threads);
  Roofs roofs;
  // Loops that are best alone may not be best together.
  for (std::size_t candidate = 0; candidate < own.front()->candidates().size(); ++candidate) {
    roofs.read =
        std::max(roofs.read, 1e9 * together(team, [&](int i) { return own[static_cast<std::size_t>(i)]->read(candidate); }));
  }
  const auto peak = [&](bench::Peak of) {
    return 1e9 * together(team, [&](int i) { return own[static_cast<std::size_t>(i)]->compute(of); });
  };
  roofs.fma = peak(bench::fma_peak(isa));
  if (const auto int8 = bench::int8_peak(isa)) roofs.int8 = peak(*int8);
  return roofs;
}

}  // namespace assay::profile
