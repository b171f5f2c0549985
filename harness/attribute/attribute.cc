#include "harness/attribute/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/audit/wiring.h"
#include "harness/nearest.h"

namespace assay {
namespace {

RowMatrix kept_rows(const Array& values, const std::vector<std::int32_t>& positions) {
  const std::int64_t width = values.elements() / values.shape[0];
  const std::size_t size = dtype_size(values.dtype);
  RowMatrix out(std::ssize(positions), width);
  for (std::size_t row = 0; row < positions.size(); ++row) {
    for (std::int64_t c = 0; c < width; ++c) {
      const auto at = static_cast<std::size_t>(positions[row] * width + c);
      out(static_cast<Eigen::Index>(row), c) = element_as_double(values.dtype, values.bytes.data() + at * size);
    }
  }
  return out;
}

double relative(const RowMatrix& difference, const RowMatrix& golden) {
  const double norm = golden.norm();
  return norm == 0 ? difference.norm() : difference.norm() / norm;
}

class PromptRun {
 public:
  PromptRun(const AttributeRequest& request, const Recipe& recipe, const std::string& name)
      : request_(request),
        rows_(*request.golden, name),
        judge_(*request.model, recipe, request.golden->head("weights")),
        probe_(*request.engine) {}

  PromptAttribution run() {
    const std::vector<SiteWiring> wirings = plan_wiring(request_.engine->plan());
    PromptAttribution out{rows_.prompt().name, std::ssize(rows_.prompt().tokens), std::ssize(rows_.prompt().positions), {}};
    request_.engine->reset();
    request_.engine->feed(rows_.prompt().tokens, Logits::all, &probe_);
    const Plan& plan = request_.engine->plan();
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
      const auto wiring = std::ranges::find(wirings, plan.steps[step].site, &SiteWiring::site);
      out.sites.push_back(site(step, wiring == wirings.end() ? nullptr : &*wiring));
    }
    return out;
  }

 private:
  SiteAttribution site(std::size_t index, const SiteWiring* wiring) {
    const Step& step = request_.engine->plan().steps[index];
    SiteAttribution out;
    out.site = step.site;
    out.op = step.prefill_op;
    out.local = probe_.errors()[index];
    out.variant = out.local.variant;
    if (wiring != nullptr) {
      out.golden = judge_.judge(*wiring, rows_, true);
      compare(index, *wiring, out);
    } else {
      out.golden.why_not = "a step of the engine's own, which no other engine's trace holds";
    }
    blame(out);
    return out;
  }

  void compare(std::size_t index, const SiteWiring& wiring, SiteAttribution& out) {
    if (!rows_.has(out.site)) return;
    const RowMatrix& golden = rows_.site(out.site);
    const auto& positions = rows_.prompt().positions;
    const RowMatrix ours = kept_rows(probe_.by_kernel()[index], positions);
    const RowMatrix reference = kept_rows(probe_.by_reference()[index], positions);
    if (ours.cols() != golden.cols()) {
      out.remarks.push_back(fmt::format("{} outputs a row, the golden has {}", ours.cols(), golden.cols()));
      return;
    }
    out.compared = true;
    out.total = relative(ours - golden, golden);
    out.inherited = relative(reference - golden, golden);
    out.own = relative(ours - reference, golden);
    // On the golden's inputs ours and the golden's would both be within a bound of the truth. Where no bound is known, sizes tell.
    const RowMatrix& bounds = out.golden.bounds;
    out.inherits = bounds.size() == ours.size() ? excess_of(ours, {golden, 2 * bounds}).ratio > 1 : out.inherited > out.own;
    double largest = 0;
    for (const Source& source : wiring.inputs) {
      for (const SourcePiece& piece : source) largest = std::max(largest, totals_[piece.site]);
    }
    out.amplification = largest > 0 ? out.inherited / largest : 0;
    totals_[out.site] = out.total;
  }

  void blame(SiteAttribution& out) const {
    if (out.local.guilty()) {
      out.blame = Blame::guilty;
    } else if (!out.local.clobbered.empty()) {
      out.blame = Blame::miswired;
      out.remarks.push_back("its input is no longer what its site gave: " + out.local.clobbered);
    } else if (out.golden.verdict == SiteVerdict::wrong) {
      out.blame = Blame::miswired;
    } else if (out.inherits) {
      out.blame = Blame::inherits;
    }
  }

  const AttributeRequest& request_;
  TraceRows rows_;
  Judge judge_;
  LocalProbe probe_;
  std::map<std::string, double> totals_;
};

// What is wrong with a plan before anything runs: operands outside their slots, sites that the definition has not or that it has and
// the plan lacks.
std::vector<SiteAttribution> plan_faults(const Plan& plan) {
  std::vector<SiteAttribution> faults;
  const auto add = [&](const std::string& site, std::string remark) {
    SiteAttribution fault;
    fault.site = site;
    fault.blame = Blame::miswired;
    fault.remarks.push_back(std::move(remark));
    faults.push_back(std::move(fault));
  };
  const std::vector<SiteWiring> own = plan_wiring(plan);
  const std::vector<SiteWiring> definition = definition_wiring(plan.config);
  std::map<std::string, int> times;
  for (const SiteWiring& wiring : own) {
    if (!wiring.fault.empty()) add(wiring.site, "the plan has it at " + wiring.fault);
    if (++times[wiring.site] == 2) add(wiring.site, "the plan has this site twice");
    if (std::ranges::find(definition, wiring.site, &SiteWiring::site) == definition.end())
      add(wiring.site, "the definition has no such site");
  }
  for (const SiteWiring& wiring : definition) {
    if (!times.contains(wiring.site)) add(wiring.site, "the plan has no such site");
  }
  return faults;
}

}  // namespace

const char* blame_name(Blame blame) noexcept {
  constexpr const char* kNames[] = {"clean", "inherits", "GUILTY", "MISWIRED"};
  return kNames[static_cast<std::size_t>(blame)];
}

std::int64_t Attribution::count(Blame blame) const {
  std::int64_t sum = 0;
  for (const PromptAttribution& prompt : prompts) sum += std::ranges::count(prompt.sites, blame, &SiteAttribution::blame);
  return sum;
}

std::int64_t Attribution::not_judged() const {
  std::int64_t sum = 0;
  for (const PromptAttribution& prompt : prompts) {
    sum += std::ranges::count_if(prompt.sites,
                                 [](const SiteAttribution& one) { return one.golden.verdict == SiteVerdict::not_judged; });
  }
  return sum;
}

const SiteAttribution* Attribution::first_fault() const {
  for (const PromptAttribution& prompt : prompts) {
    const auto found = std::ranges::find_if(prompt.sites, [](const SiteAttribution& one) { return one.blame >= Blame::guilty; });
    if (found != prompt.sites.end()) return &*found;
  }
  return nullptr;
}

Attribution attribute(const AttributeRequest& request) {
  const Recipe& recipe = request.recipe.empty() ? recipe_of(*request.golden) : find_recipe(request.recipe);
  Attribution result{recipe.name, {}};
  std::vector<SiteAttribution> faults = plan_faults(request.engine->plan());
  if (!faults.empty()) {
    result.prompts.push_back({"the plan itself", 0, 0, std::move(faults)});
    return result;
  }
  const auto& known = request.golden->prompts();
  for (const std::string& name : request.prompts.empty() ? known : request.prompts) {
    if (std::ranges::find(known, name) == known.end()) throw std::invalid_argument(unknown_name("prompt", name, known));
    result.prompts.push_back(PromptRun(request, recipe, name).run());
  }
  return result;
}

}  // namespace assay
