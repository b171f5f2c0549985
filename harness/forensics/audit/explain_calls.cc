#include "harness/forensics/audit/explain_calls.h"

#include <algorithm>
#include <map>
#include <optional>

#include "harness/forensics/explain/explain.h"
#include "harness/forensics/extract/extract.h"
#include "harness/forensics/sites/site_name.h"

namespace assay {
namespace {

constexpr double kMostWork = 1e8;  // products of a call
constexpr double kMostSeconds = 10;
constexpr std::size_t kMostRight = 3;
constexpr std::size_t kMostWrong = 8;

using Sites = std::vector<Judgement*>;

// The sites of a kind, and its op's calls at them.
class Kind {
 public:
  Kind(const AuditRequest& request, const std::string& prompt, Sites wrong, Sites right)
      : request_(request), prompt_(prompt), wrong_(std::move(wrong)), right_(std::move(right)) {
    if (right_.size() > kMostRight) right_.resize(kMostRight);
  }

  void explain() {
    if (wrong_.empty() || wrong_.size() > kMostWrong || !take_calls()) return;
    const std::vector<std::string> together = explained_by(failing_, passing_);
    for (std::size_t i = 0; i < wrong_.size(); ++i) {
      Judgement& one = *wrong_[i];
      one.explanations = together;
      if (one.explanations.empty() && wrong_.size() > 1) one.explanations = explained_by({failing_[i]}, passing_);
      if (one.explanations.empty() && !passing_.empty()) one.explanations = explained_by({failing_[i]}, {});
      if (!one.explanations.empty())
        std::erase_if(one.remarks, [](const std::string& words) { return words.starts_with("nearest: "); });
    }
  }

 private:
  // Whether the op, by its own bounds, tells the wrong ones from the right ones.
  bool take_calls() {
    return std::ranges::all_of(wrong_, [this](const Judgement* one) { return take(one->site, true); }) &&
           std::ranges::all_of(right_, [this](const Judgement* one) { return take(one->site, false); });
  }

  double products(const std::string& site) const {
    const ModelConfig& config = request_.model->config();
    const SiteWiring wiring = *wiring_of_site(config, site);
    const auto rows = static_cast<double>(request_.trace->prompt(prompt_).positions.size());
    if (wiring.formula == Formula::attention) return rows * rows * static_cast<double>(wiring.heads * config.head_dim);
    if (wiring.formula != Formula::linear) return rows;
    const Weight& weight = weight_of(*request_.model, wiring);
    return rows * static_cast<double>(weight.rows) * static_cast<double>(weight.cols);
  }

  bool take(const std::string& site, bool fails) {
    if (products(site) > kMostWork) return false;
    try {
      const Extracted call = extract({.model = request_.model, .trace = request_.trace, .prompt = prompt_, .site = site});
      op_ = &require_op(call.op);
      auto evidence = evidence_of(call);
      if (!evidence || evidence->fails() != fails) return false;
      (fails ? failing_ : passing_).push_back(std::move(*evidence));
      return true;
    } catch (const std::invalid_argument&) {
      return false;  // the trace lacks what the op needs, say
    }
  }

  std::optional<why::Evidence> evidence_of(const Extracted& call) const {
    const Params& params = call.golden.params;
    const Signature signature = signature_of(*op_, params);
    const TensorSpec& y = signature.tensors.back();
    if (y.dtype != DType::f32 || y.elements() != call.recorded.size()) return std::nullopt;
    std::vector<Array> inputs;
    for (const TensorSpec& spec : signature.tensors) {
      if (spec.role == Direction::in) inputs.push_back(call.golden.inputs.at(spec.name));
    }
    if (inputs.size() + 1 != signature.tensors.size()) return std::nullopt;  // more than one output
    return why::recorded_evidence(*op_, call.golden.name, params, std::move(inputs), {floats(call.recorded, y.shape)});
  }

  std::vector<std::string> explained_by(std::vector<why::Evidence> cases, const std::vector<why::Evidence>& passing) const {
    cases.insert(cases.end(), passing.begin(), passing.end());
    const auto progress = [this](const std::string&) {
      if (request_.progress) request_.progress("explaining " + wrong_.front()->site);
    };
    const why::KernelExplanation found =
        why::explain_cases(*op_, cases, {.check = {}, .most_seconds = kMostSeconds, .progress = progress});
    std::vector<std::string> words;
    for (const why::Explanation& one : found.told) {
      if (!one.only_where()) words.push_back(one.words + (one.when.empty() ? "" : ", " + one.when));
    }
    return words;
  }

  const AuditRequest& request_;
  const std::string& prompt_;
  Sites wrong_;
  Sites right_;
  const Op* op_ = nullptr;
  std::vector<why::Evidence> failing_;
  std::vector<why::Evidence> passing_;
};

}  // namespace

void explain_by_calls(const AuditRequest& request, PromptAudit& prompt) {
  std::map<std::string_view, std::pair<Sites, Sites>> kinds;  // wrong and right
  for (Judgement& one : prompt.sites) {
    auto& [wrong, right] = kinds[parse_site(one.site).op];
    if (one.verdict == SiteVerdict::wrong && one.explanations.empty()) wrong.push_back(&one);
    if (one.verdict == SiteVerdict::right) right.push_back(&one);
  }
  for (auto& [name, sites] : kinds) Kind(request, prompt.prompt, std::move(sites.first), std::move(sites.second)).explain();
}

}  // namespace assay
