#include "harness/forensics/attribute/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/forensics/attribute/plan_faults.h"
#include "harness/forensics/model/wiring.h"
#include "harness/forensics/trace/prompts.h"

namespace assay {
namespace {

double relative(const RowMatrix& difference, const RowMatrix& golden) {
  const double norm = golden.norm();
  return norm == 0 ? difference.norm() : difference.norm() / norm;
}

class PromptRun {
 public:
  PromptRun(const AttributeRequest& request, const Recipe& recipe, const std::string& name)
      : request_(request),
        recipe_(recipe),
        rows_(*request.golden, name),
        judge_(*request.model, recipe, request.golden->head("weights"), request.engine->team()),
        own_judge_(*request.model, own_recipe_, request.golden->head("weights"), request.engine->team()),
        probe_(*request.engine, rows_.prompt().positions),
        definition_(definition_wiring(request.model->config())) {}

  PromptAttribution run() {
    Engine& engine = *request_.engine;
    const std::vector<SiteWiring> wirings = plan_wiring(engine.plan());
    PromptAttribution out{rows_.prompt().name, std::ssize(rows_.prompt().tokens), std::ssize(rows_.prompt().positions), {}, {}};
    engine.clear();
    const std::string& name = rows_.prompt().name;
    probe_.tell([&](const StepRun& step) {
      tell("{}: token {} of {}, step {} of {}", name, step.position, out.tokens, step.index + 1, step.plan.steps.size());
    });
    try {
      engine.feed(rows_.prompt().tokens, Logits::all, &probe_);
    } catch (const EngineError& error) {
      probe_.stopped(error);
      out.stopped = error.what();
    }
    for (std::size_t step = 0; step < engine.plan().steps.size(); ++step) {
      const auto wiring = std::ranges::find(wirings, engine.plan().steps[step].site, &SiteWiring::site);
      out.sites.push_back(site(step, wiring == wirings.end() ? nullptr : &*wiring));
      tell("{}: {} of {} sites held to the golden", name, out.sites.size(), engine.plan().steps.size());
    }
    return out;
  }

 private:
  template <class... Values>
  void tell(fmt::format_string<Values...> text, Values&&... values) const {
    if (request_.progress) request_.progress(fmt::format(text, std::forward<Values>(values)...));
  }

  SiteAttribution site(std::size_t index, const SiteWiring* wiring) {
    rows_.forget_if_many();
    const Step& step = request_.engine->plan().steps[index];
    SiteAttribution out;
    out.site = step.site;
    out.op = step.prefill->name;
    out.local = probe_.errors()[index];
    out.variant = out.local.variant;
    if (wiring != nullptr) {
      const auto right = std::ranges::find(definition_, wiring->site, &SiteWiring::site);
      out.remarks = wiring_differences(*wiring, *right);
      out.miswired = !out.remarks.empty();
      RowMatrix bounds;
      out.golden = judge_.judge(*wiring, rows_, true, &bounds);
      compare(index, *wiring, bounds, out);
    } else {
      out.golden.why_not = "a step of the engine's own, which no other engine's trace holds";
    }
    blame(out);
    return out;
  }

  // Whether the passes came to this step for every row that the golden keeps.
  bool reached(std::size_t index) const {
    const Array& ours = probe_.by_kernel()[index];
    return !ours.shape.empty() && ours.shape[0] == std::ssize(rows_.prompt().positions);
  }

  void compare(std::size_t index, const SiteWiring& wiring, const RowMatrix& bounds, SiteAttribution& out) {
    for (const Source& source : wiring.inputs) {
      for (const SourcePiece& piece : source) {
        if (totals_.contains(piece.site)) out.inputs[piece.site] = totals_[piece.site];
      }
    }
    if (!rows_.has(out.site) || !reached(index)) return;
    const RowMatrix& golden = rows_.site(out.site);
    const RowMatrix ours = matrix_of(probe_.by_kernel()[index]);
    const RowMatrix reference = matrix_of(probe_.by_reference()[index]);
    if (ours.cols() != golden.cols()) {
      out.remarks.push_back(fmt::format("{} outputs a row, the golden has {}", ours.cols(), golden.cols()));
      return;
    }
    out.compared = true;
    out.total = relative(ours - golden, golden);
    out.inherited = relative(reference - golden, golden);
    out.own = relative(ours - reference, golden);
    const std::optional<RowMatrix> allowed = allowance(wiring, bounds);
    out.inherits = allowed ? excess_of(ours, {golden, *allowed}).ratio > 1 : out.inherited > out.own;
    double largest = 0;
    for (const auto& [site, total] : out.inputs) largest = std::max(largest, total);
    out.amplification = largest > 0 ? out.inherited / largest : 0;
    totals_[out.site] = out.total;
  }

  // How far ours may be from the golden's with the golden's inputs: each within its own recipe's bound of the truth. Nothing where no
  // bound is known.
  std::optional<RowMatrix> allowance(const SiteWiring& wiring, const RowMatrix& golden) {
    if (golden.size() == 0) return std::nullopt;
    if (recipe_.u >= own_recipe_.u) return 2 * golden;
    RowMatrix own;
    own_judge_.judge(wiring, rows_, false, &own);
    if (own.size() == 0) return std::nullopt;
    return golden + own;
  }

  void blame(SiteAttribution& out) const {
    if (out.local.guilty()) {
      out.blame = Blame::guilty;
    } else if (!out.local.clobbered.empty()) {
      out.blame = Blame::miswired;
      out.remarks.push_back("its input is no longer what its site gave: " + out.local.clobbered);
    } else if (out.miswired || out.golden.verdict == SiteVerdict::wrong) {
      out.blame = Blame::miswired;
    } else if (out.variant.empty()) {
      out.blame = Blame::not_run;
    } else if (out.inherits) {
      out.blame = Blame::inherits;
    }
  }

  const AttributeRequest& request_;
  const Recipe& recipe_;
  const Recipe& own_recipe_ = preset_recipe("assay");
  TraceRows rows_;
  Judge judge_;
  Judge own_judge_;
  LocalProbe probe_;
  std::vector<SiteWiring> definition_;
  std::map<std::string, double> totals_;
};

// The plan could not be run.
PromptAttribution unrun(const std::vector<PlanFault>& faults) {
  PromptAttribution out{"the plan itself", 0, 0, {}, {}};
  for (const PlanFault& fault : faults) {
    SiteAttribution site;
    site.site = fault.site;
    site.blame = Blame::miswired;
    site.remarks.push_back(fault.what);
    out.sites.push_back(std::move(site));
  }
  return out;
}

}  // namespace

const char* blame_name(Blame blame) noexcept {
  constexpr const char* kNames[] = {"clean", "inherits", "not run", "GUILTY", "MISWIRED"};
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

std::optional<Attribution::Fault> Attribution::first_fault() const {
  for (const PromptAttribution& prompt : prompts) {
    const auto found = std::ranges::find_if(prompt.sites, [](const SiteAttribution& one) { return one.blame >= Blame::guilty; });
    if (found != prompt.sites.end()) return Fault{&prompt, &*found};
  }
  return std::nullopt;
}

bool Attribution::passed() const {
  return !first_fault() && std::ranges::all_of(prompts, [](const PromptAttribution& one) { return one.stopped.empty(); });
}

Attribution attribute(const AttributeRequest& request) {
  const Recipe recipe = request.recipe.empty() ? recipe_of(*request.golden) : find_recipe(request.recipe);
  Attribution result{recipe.name, {}};
  const std::vector<PlanFault> faults = plan_faults(request.engine->plan());
  if (!faults.empty()) {
    result.prompts.push_back(unrun(faults));
    return result;
  }
  for (const std::string& name : chosen_prompts(*request.golden, request.prompts)) {
    result.prompts.push_back(PromptRun(request, recipe, name).run());
  }
  return result;
}

}  // namespace assay
