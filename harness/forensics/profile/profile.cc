#include "harness/forensics/profile/profile.h"

#include <algorithm>

#include "harness/forensics/profile/step_work.h"
#include "harness/forensics/sites/site_name.h"

namespace assay::profile {
namespace {

Line& line_of(std::vector<Line>& lines, const std::string& site, const std::string& kernel) {
  const auto found = std::ranges::find_if(lines, [&](const Line& line) { return line.site == site && line.kernel == kernel; });
  if (found != lines.end()) return *found;
  lines.push_back({});
  lines.back().site = site;
  lines.back().kernel = kernel;
  return lines.back();
}

Part part_of(const Engine& engine, const StepClock& clock, bool decode) {
  const Plan& plan = engine.plan();
  const StepClock::Work& done = clock.work(decode);
  Part part{decode ? "decode" : "prefill", done.all.passes, done.all.rows, 0, 0, {}};
  const auto threads = static_cast<double>(clock.threads());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const StepClock::Spent spent = clock.spent(decode, i);
    const StepWork work = work_of(plan, step, done);
    Line& line = line_of(part.lines, std::string(parse_site(step.site).op), engine.calls().chosen(i, decode).name);
    line.calls += done.of(step).passes;
    line.seconds += spent.busy / threads;
    line.bytes += work.bytes;
    line.operations += work.operations;
    line.of_codes = work.of_codes;
    part.waiting += spent.waiting / threads;
    part.seconds += (spent.busy + spent.waiting) / threads;
  }
  std::ranges::stable_sort(part.lines, std::greater(), &Line::seconds);
  return part;
}

}  // namespace

Profile make_profile(const Engine& engine, const StepClock& clock, const Roofs& roofs) {
  Profile profile{clock.threads(), roofs, {}};
  for (const bool decode : {false, true}) {
    if (clock.work(decode).all.passes > 0) profile.parts.push_back(part_of(engine, clock, decode));
  }
  return profile;
}

}  // namespace assay::profile
