#include "harness/forensics/audit/audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/forensics/audit/explain_calls.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/forensics/trace/prompts.h"
#include "harness/reports/report.h"

namespace assay {
namespace {

const char* verdict_name(SiteVerdict verdict) {
  constexpr const char* kNames[] = {"right", "wrong", "not judged", "allowed"};
  return kNames[static_cast<std::size_t>(verdict)];
}

// A line a kind of site: how many, the worst, how many not judged.
std::string kinds_table(const PromptAudit& prompt, const Style& style) {
  struct Sum {
    std::int64_t right = 0, wrong = 0, not_judged = 0;
    double worst = 0;
    std::string at;
  };
  std::vector<std::pair<std::string, Sum>> kinds;
  for (const Judgement& one : prompt.sites) {
    const std::string_view kind = parse_site(one.site).op;
    auto found = std::ranges::find(kinds, kind, &std::pair<std::string, Sum>::first);
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {std::string(kind), {}});
    Sum& sum = found->second;
    std::int64_t* const counts[] = {&sum.right, &sum.wrong, &sum.not_judged, &sum.wrong};
    ++*counts[static_cast<std::size_t>(one.verdict)];
    if (one.verdict == SiteVerdict::not_judged || one.excess.ratio < sum.worst) continue;
    sum.worst = one.excess.ratio;
    sum.at = one.site;
  }
  Table table({"site", ">right", ">wrong", ">not judged", ">worst, bounds", "at"});
  for (const auto& [kind, sum] : kinds) {
    const std::string wrong = sum.wrong > 0 ? style.bad(fmt::format("{}", sum.wrong)) : "0";
    table.add({kind, fmt::format("{}", sum.right), wrong, fmt::format("{}", sum.not_judged),
               sum.at.empty() ? "" : fmt::format("{:.3g}", sum.worst), sum.at});
  }
  return table.render(style);
}

std::string wrong_text(const Judgement& one, const Style& style) {
  std::string text = fmt::format("{} {}: {:.3g} bounds away\n", style.bad("WRONG"), one.site, one.excess.ratio);
  if (one.bound > 0) {
    text += fmt::format("  at token {}, output {}: {:.9g}, by the definition {:.9g}, bound {:.3g}\n", one.token,
                        one.excess.column, one.value, one.truth, one.bound);
  }
  for (const std::string& remark : one.remarks) text += "  " + remark + "\n";
  for (const std::string& explanation : one.explanations) text += "  explained by: " + explanation + "\n";
  if (one.explanations.empty()) text += "  explained by none of the known ways to be wrong\n";
  return text;
}

// A cause that many sites share (theta, eps) is told once.
std::string all_wrong_text(const PromptAudit& prompt, const Style& style) {
  std::string text;
  std::map<std::vector<std::string>, std::string> told;
  for (const Judgement& one : prompt.sites) {
    if (one.verdict != SiteVerdict::wrong) continue;
    const auto before = one.explanations.empty() ? told.end() : told.find(one.explanations);
    if (before == told.end()) {
      text += wrong_text(one, style);
      told.emplace(one.explanations, one.site);
    } else {
      text += fmt::format("{} {}: {:.3g} bounds away, as {}: {}\n", style.bad("WRONG"), one.site, one.excess.ratio,
                          before->second, one.explanations.front());
    }
  }
  return text;
}

std::string allowed_text(const PromptAudit& prompt) {
  std::string text;
  for (const Judgement& one : prompt.sites) {
    if (one.verdict == SiteVerdict::allowed)
      text += fmt::format("allowed {}: {:.3g} bounds away, {}\n", one.site, one.excess.ratio, one.why_not);
  }
  return text;
}

std::string not_judged_text(const PromptAudit& prompt) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (const Judgement& one : prompt.sites) {
    if (one.verdict == SiteVerdict::not_judged) reasons[one.why_not].push_back(one.site);
  }
  std::string text;
  for (const auto& [reason, sites] : reasons) {
    text += fmt::format("not judged, {} sites ({}{}): {}\n", sites.size(), sites.front(),
                        sites.size() > 1 ? " .. " + sites.back() : "", reason);
  }
  return text;
}

// A deviation that grew beyond what was allowed is wrong, and says so.
void allow(Judgement& one, const std::vector<Allowance>& all, std::set<const Allowance*>& needed) {
  const Allowance* const allowed = find_allowed(all, one.site);
  if (one.verdict != SiteVerdict::wrong || allowed == nullptr) return;
  needed.insert(allowed);
  if (one.excess.ratio <= allowed->bounds) {
    one.verdict = SiteVerdict::allowed;
    one.why_not = fmt::format("{:g} allowed: {}", allowed->bounds, allowed->why);
  } else {
    one.remarks.push_back(fmt::format("{:g} bounds were allowed ({}), and it has grown", allowed->bounds, allowed->why));
  }
}

}  // namespace

std::int64_t AuditResult::count(SiteVerdict verdict) const {
  std::int64_t sum = 0;
  for (const PromptAudit& prompt : prompts) sum += std::ranges::count(prompt.sites, verdict, &Judgement::verdict);
  return sum;
}

// Of the widest site: the trace's values as they are read, in fp32 and fp64; its inputs, thrice (rounded, their magnitudes, packed); truth,
// bound and what they are made in.
AuditMemory audit_memory(const AuditRequest& request) {
  AuditMemory memory;
  std::int64_t widest_row = 0;  // of weights
  for (const Weight& weight : request.model->weights().all()) {
    memory.model += std::ssize(weight.bytes);
    widest_row = std::max(widest_row, weight.cols);
  }
  constexpr std::int64_t kNumber = sizeof(double);
  memory.weights = request.threads * 3 * kDecodedRows * widest_row * kNumber;  // values, magnitudes, packed
  const ModelConfig& config = request.model->config();
  for (const std::string& name : chosen_prompts(*request.trace, request.prompts)) {
    const auto rows = std::ssize(request.trace->prompt(name).positions);
    const std::int64_t width = std::max({config.vocab, config.ffn, config.heads * config.head_dim, config.hidden});
    memory.site = std::max(memory.site, 8 * rows * width * kNumber);
  }
  memory.trace = TraceRows::kMostKept;
  return memory;
}

AuditResult audit(const AuditRequest& request) {
  const Recipe recipe = request.recipe.empty() ? recipe_of(*request.trace) : find_recipe(request.recipe);
  Team team(request.threads);
  Judge judge(*request.model, recipe, request.trace->head("weights"), team);
  AuditResult result{recipe.name, audit_memory(request), {}, {}};
  std::set<const Allowance*> needed;
  for (const std::string& name : chosen_prompts(*request.trace, request.prompts)) {
    TraceRows rows(*request.trace, name);
    PromptAudit prompt{name, std::ssize(rows.prompt().positions), {}};
    for (const SiteWiring& wiring : request.wiring) {
      rows.forget_if_many();
      prompt.sites.push_back(judge.judge(wiring, rows, true));
      allow(prompt.sites.back(), request.allowed, needed);
      if (request.progress) request.progress(fmt::format("{}: {} of {} sites", name, prompt.sites.size(), request.wiring.size()));
    }
    explain_by_calls(request, prompt);
    result.prompts.push_back(std::move(prompt));
  }
  std::ranges::copy_if(request.allowed, std::back_inserter(result.unneeded),
                       [&](const Allowance& one) { return !needed.contains(&one); });
  return result;
}

std::string audit_text(const AuditResult& result, const Style& style) {
  std::string text = fmt::format("recipe {}\n", result.recipe);
  for (const PromptAudit& prompt : result.prompts) {
    text += fmt::format("\n{}, {} rows\n{}", style.strong(prompt.prompt), prompt.rows, kinds_table(prompt, style));
    text += all_wrong_text(prompt, style) + allowed_text(prompt) + not_judged_text(prompt);
  }
  for (const Allowance& one : result.unneeded)
    text += fmt::format("allowed and not needed: {}={:g} {}\n", one.sites, one.bounds, one.why);
  const std::string verdict = result.passed() ? style.good("PASS") : style.bad("FAIL");
  const std::int64_t allowed = result.count(SiteVerdict::allowed);
  return text + fmt::format("\n{}: {} sites right, {} wrong, {} not judged{}\n", verdict, result.count(SiteVerdict::right),
                            result.count(SiteVerdict::wrong), result.count(SiteVerdict::not_judged),
                            allowed > 0 ? fmt::format(", {} wrong as allowed", allowed) : "");
}

nlohmann::ordered_json audit_json(const AuditResult& result) {
  nlohmann::ordered_json json = environment_json();
  json["recipe"] = result.recipe;
  json["memory"] = {{"model", result.memory.model},
                    {"trace", result.memory.trace},
                    {"weights", result.memory.weights},
                    {"site", result.memory.site}};
  json["passed"] = result.passed();
  for (const PromptAudit& prompt : result.prompts) {
    nlohmann::ordered_json sites = nlohmann::ordered_json::array();
    for (const Judgement& one : prompt.sites) {
      nlohmann::ordered_json site = {{"site", one.site}, {"verdict", verdict_name(one.verdict)}};
      if (one.verdict == SiteVerdict::not_judged) {
        site["why"] = one.why_not;
      } else {
        site["bounds"] = one.excess.ratio;
        site["row"] = one.excess.row;
        site["token"] = one.token;
        site["output"] = one.excess.column;
        site["explanations"] = one.explanations;
        site["remarks"] = one.remarks;
        if (one.verdict == SiteVerdict::allowed) site["why"] = one.why_not;
      }
      sites.push_back(std::move(site));
    }
    json["prompts"].push_back({{"prompt", prompt.prompt}, {"rows", prompt.rows}, {"sites", sites}});
  }
  return json;
}

}  // namespace assay
