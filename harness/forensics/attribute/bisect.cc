#include "harness/forensics/attribute/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/forensics/trace/prompts.h"
#include "harness/reports/report.h"

namespace assay {
namespace {

// What an engine's own rounding was seen to do to the logits of a trained model (docs/bisecting.md), ten times over. Quantised codes
// that flip at a tie count among it.
double far_for(const TraceFile& golden) {
  const bool exact = golden.head("recipe") == "definition" || golden.head("dtype") == "float32";
  return exact && golden.head("recipe") != "llama.cpp" ? 5e-5 : 1e-1;
}

class Bisector {
 public:
  explicit Bisector(const BisectRequest& request)
      : request_(request), engine_(*request.engine), steps_(engine_.plan().steps.size()) {
    for (std::size_t step = 0; step < steps_; ++step) own_.push_back(engine_.calls().chosen(step, true).backend);
    for (const std::string& name : chosen_prompts(*request.golden, request.prompts)) {
      prompts_.push_back(request.golden->prompt(name));
    }
  }
  Bisector(const Bisector&) = delete;
  Bisector& operator=(const Bisector&) = delete;
  ~Bisector() {
    for (std::size_t step = 0; step < steps_; ++step) engine_.calls().set_backend(step, own_[step]);
  }

  Bisection run() {
    Bisection out;
    out.far = far_for(*request_.golden);
    std::set<std::size_t> all;
    for (std::size_t step = 0; step < steps_; ++step) all.insert(step);
    threshold_ = HUGE_VAL;
    out.all_reference = distance(all, "all steps by the reference");
    threshold_ = out.threshold = request_.threshold.value_or(2 * out.all_reference);
    out.as_chosen = distance({}, "all steps by their kernels");
    if (!out.reference_is_far() && out.as_chosen > out.threshold && out.all_reference <= out.threshold) {
      for (const std::size_t step : smallest()) out.sites.push_back(engine_.plan().steps[step].site);
    }
    out.runs = runs_;
    return out;
  }

 private:
  // The last step that is needed beside those found is where the shortest sufficient beginning of the plan ends; then the same
  // before it, until what was found suffices. k steps take about k log2(n) runs.
  std::set<std::size_t> smallest() {
    std::set<std::size_t> found;
    std::size_t sufficient = steps_;
    while (!within(found, "what was found")) {
      std::size_t low = 0;
      std::size_t high = sufficient;
      while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        (within(joined(found, middle), fmt::format("steps 0 .. {} and what was found", middle - 1)) ? high : low) = middle;
      }
      found.insert(high - 1);
      sufficient = high - 1;
    }
    return without_superfluous(found);
  }

  // Errors can cancel, so a member may have become superfluous.
  std::set<std::size_t> without_superfluous(std::set<std::size_t> found) {
    const std::set<std::size_t> members = found;
    for (const std::size_t step : members) {
      if (found.size() == 1) break;
      std::set<std::size_t> fewer = found;
      fewer.erase(step);
      if (within(fewer, "without " + engine_.plan().steps[step].site)) found = fewer;
    }
    return found;
  }

  static std::set<std::size_t> joined(std::set<std::size_t> found, std::size_t count) {
    for (std::size_t step = 0; step < count; ++step) found.insert(step);
    return found;
  }

  bool within(const std::set<std::size_t>& by_reference, const std::string& what) {
    return distance(by_reference, what) <= threshold_;
  }

  double distance(const std::set<std::size_t>& by_reference, const std::string& what) {
    for (std::size_t step = 0; step < steps_; ++step) {
      engine_.calls().set_backend(step, by_reference.contains(step) ? Backend::reference : own_[step]);
    }
    double largest = 0;
    for (const TracePrompt& prompt : prompts_) largest = std::max(largest, distance_of(prompt));
    ++runs_;
    if (request_.progress) request_.progress({what, largest, largest <= threshold_});
    return largest;
  }

  double distance_of(const TracePrompt& prompt) {
    const Array golden = request_.golden->site(prompt, kLogitsSite);
    const std::int64_t vocab = engine_.plan().config.vocab;
    if (golden.elements() != std::ssize(prompt.positions) * vocab) {
      throw std::invalid_argument(fmt::format("{}: {}: logits of {} tokens, the model has {}", request_.golden->path().string(),
                                              prompt.name, golden.elements() / std::ssize(prompt.positions), vocab));
    }
    LogitsRows rows(prompt, request_.within_run);
    // What a wrong step leaves unwritten must not be there from the run before.
    engine_.clear();
    try {
      engine_.feed(prompt.tokens, Logits::all, &rows);
    } catch (const EngineError&) {
      return HUGE_VAL;  // a step refused what another made
    }
    double difference = 0;
    double norm = 0;
    for (std::int64_t i = 0; i < std::ssize(rows.values()); ++i) {
      const double want = golden.number(i);
      const double error = static_cast<double>(rows.values()[static_cast<std::size_t>(i)]) - want;
      difference += error * error;
      norm += want * want;
    }
    const double relative = std::sqrt(difference / norm);
    return std::isfinite(relative) ? relative : HUGE_VAL;
  }

  // Keeps the logits of some tokens.
  class LogitsRows final : public Observer {
   public:
    LogitsRows(const TracePrompt& prompt, const std::function<void(const std::string&)>& progress)
        : prompt_(prompt), positions_(prompt.positions), progress_(progress) {}
    bool wants(const Step& step) const override { return progress_ || step.site == kLogitsSite; }
    void before(const StepRun& run) override {
      if (!progress_) return;
      progress_(fmt::format("{}: token {} of {}, step {} of {}", prompt_.name, run.position, prompt_.tokens.size(), run.index + 1,
                            run.plan.steps.size()));
    }
    void after(const StepRun& run) override {
      if (run.step().site != kLogitsSite) return;
      const RowsView& view = run.outputs[0];
      for (std::int64_t row = 0; row < run.rows; ++row) {
        if (!std::ranges::binary_search(positions_, static_cast<std::int32_t>(run.position + row))) continue;
        const auto* const first = reinterpret_cast<const float*>(view.data + row * view.row_stride);
        values_.insert(values_.end(), first, first + view.shape[0]);
      }
    }
    const std::vector<float>& values() const { return values_; }

   private:
    const TracePrompt& prompt_;
    const std::vector<std::int32_t>& positions_;
    const std::function<void(const std::string&)>& progress_;
    std::vector<float> values_;
  };

  const BisectRequest& request_;
  Engine& engine_;
  std::size_t steps_;
  std::vector<Backend> own_;
  std::vector<TracePrompt> prompts_;
  double threshold_ = 0;
  std::int64_t runs_ = 0;
};

}  // namespace

Bisection bisect(const BisectRequest& request) {
  return Bisector(request).run();
}

std::string bisection_text(const Bisection& result, const Style& style) {
  std::string text = fmt::format(
      "distance of the logits to the golden's (relative RMS): all by the reference {:.3g}, by the kernels {:.3g}; threshold "
      "{:.3g}\n",
      result.all_reference, result.as_chosen, result.threshold);
  if (result.reference_is_far()) {
    return text + style.bad("FAIL") +
           fmt::format(
               ": the reference itself is {:.3g} away, more than rounding explains ({:.0e}): the plan, a weight or a recipe is "
               "wrong, and "
               "no kernel\nassay attribute says where\n",
               result.all_reference, result.far);
  }
  if (result.nothing_to_find()) return text + style.good("PASS") + ": within the threshold, nothing to find\n";
  if (result.sites.empty()) return text + style.bad("FAIL") + ": all steps by the reference are above this threshold too\n";
  text +=
      style.bad("FAIL") +
      fmt::format(": found in {} runs; with these by the reference the logits are back, and without any of them they are not:\n",
                  result.runs);
  for (const std::string& site : result.sites) text += "  " + site + "\n";
  return text;
}

nlohmann::ordered_json bisection_json(const Bisection& result) {
  nlohmann::ordered_json json = environment_json();
  json["all_reference"] = result.all_reference;
  json["as_chosen"] = result.as_chosen;
  json["threshold"] = result.threshold;
  json["reference_is_far"] = result.reference_is_far();
  json["sites"] = result.sites;
  json["runs"] = result.runs;
  return json;
}

}  // namespace assay
