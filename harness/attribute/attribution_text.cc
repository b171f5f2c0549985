#include <fmt/format.h>

#include <algorithm>

#include "harness/attribute/attribute.h"
#include "harness/report.h"

namespace assay {
namespace {

std::string kind_of(const std::string& site) {
  return site.starts_with("layers.") ? site.substr(site.find('.', 7) + 1) : site;
}

struct KindSum {
  std::string kind;
  std::int64_t counts[4] = {};
  std::int64_t not_judged = 0;
  double margin = 0;
  double golden = 0;
  double total = 0;
  double amplification = 0;
};

std::vector<KindSum> sums_of(const PromptAttribution& prompt) {
  std::vector<KindSum> sums;
  for (const SiteAttribution& one : prompt.sites) {
    auto found = std::ranges::find(sums, kind_of(one.site), &KindSum::kind);
    if (found == sums.end()) {
      sums.emplace_back();
      found = sums.end() - 1;
      found->kind = kind_of(one.site);
    }
    ++found->counts[static_cast<std::size_t>(one.blame)];
    found->not_judged += one.golden.verdict == SiteVerdict::not_judged ? 1 : 0;
    found->margin = std::max(found->margin, one.local.comparison.margin);
    found->golden = std::max(found->golden, one.golden.excess.ratio);
    found->total = std::max(found->total, one.total);
    found->amplification = std::max(found->amplification, one.amplification);
  }
  return sums;
}

std::string kinds_table(const PromptAttribution& prompt, const Style& style) {
  Table table({"site", ">clean", ">inherits", ">GUILTY", ">MISWIRED", ">golden side not judged", ">local, bounds",
               ">golden side, bounds", ">relative error", ">amplified"});
  for (const KindSum& sum : sums_of(prompt)) {
    const auto count = [&](int blame) { return fmt::format("{}", sum.counts[blame]); };
    const auto bad = [&](int blame) { return sum.counts[blame] > 0 ? style.bad(count(blame)) : count(blame); };
    table.add({sum.kind, count(0), count(1), bad(2), bad(3), fmt::format("{}", sum.not_judged), fmt::format("{:.3g}", sum.margin),
               fmt::format("{:.3g}", sum.golden), fmt::format("{:.2e}", sum.total), fmt::format("{:.2f}", sum.amplification)});
  }
  return table.render(style);
}

std::string sites_table(const PromptAttribution& prompt, const Style& style) {
  Table table({"site", "verdict", ">local, bounds", ">golden side, bounds", ">total", ">inherited", ">own", ">amplified"});
  for (const SiteAttribution& one : prompt.sites) {
    const std::string golden =
        one.golden.verdict == SiteVerdict::not_judged ? "-" : fmt::format("{:.3g}", one.golden.excess.ratio);
    table.add({one.site, blame_name(one.blame), fmt::format("{:.3g}", one.local.comparison.margin), golden,
               fmt::format("{:.2e}", one.total), fmt::format("{:.2e}", one.inherited), fmt::format("{:.2e}", one.own),
               fmt::format("{:.2f}", one.amplification)});
  }
  return table.render(style);
}

std::string fault_text(const SiteAttribution& one, const Style& style) {
  std::string text = fmt::format("{} {}", style.bad(blame_name(one.blame)), one.site);
  if (one.blame == Blame::guilty) {
    const auto& worst = one.local.comparison.wrong_class ? one.local.comparison.wrong_class : one.local.comparison.worst;
    text += fmt::format(": {} is {:.3g} bounds off on its own inputs, token {}\n", one.variant, one.local.comparison.margin,
                        one.local.row);
    if (worst) text += fmt::format("  got {}, the reference has {}\n", worst->got, worst->want);
    return text;
  }
  if (one.golden.verdict == SiteVerdict::wrong) {
    text += fmt::format(": on the golden's inputs the golden's output is {:.3g} bounds off", one.golden.excess.ratio);
  }
  text += "\n";
  for (const std::string& remark : one.remarks) text += "  " + remark + "\n";
  for (const std::string& remark : one.golden.remarks) text += "  " + remark + "\n";
  for (const std::string& explanation : one.golden.explanations) text += "  the golden agrees with: " + explanation + "\n";
  return text;
}

std::string not_judged_text(const PromptAttribution& prompt) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const SiteAttribution& one : prompt.sites) {
    if (one.golden.verdict != SiteVerdict::not_judged || one.blame == Blame::miswired) continue;
    auto found = std::ranges::find(reasons, one.golden.why_not, [](const auto& reason) { return reason.first; });
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {one.golden.why_not, {}});
    found->second.push_back(one.site);
  }
  std::string text;
  for (const auto& [reason, sites] : reasons) {
    text += fmt::format("golden side not judged, {} sites ({}{}): {}\n", sites.size(), sites.front(),
                        sites.size() > 1 ? " .. " + sites.back() : "", reason);
  }
  return text;
}

}  // namespace

std::string attribution_text(const Attribution& result, bool all, const Style& style) {
  std::string text = fmt::format("the golden's recipe: {}\n", result.recipe);
  for (const PromptAttribution& prompt : result.prompts) {
    text += fmt::format("\n{}, {} tokens, {} rows kept\n", style.strong(prompt.prompt), prompt.tokens, prompt.rows);
    text += all ? sites_table(prompt, style) : kinds_table(prompt, style);
    for (const SiteAttribution& one : prompt.sites) {
      if (one.blame >= Blame::guilty) text += fault_text(one, style);
    }
    text += not_judged_text(prompt);
  }
  const SiteAttribution* const fault = result.first_fault();
  text += fmt::format("\n{}: {} clean, {} inherit, {} guilty, {} miswired\n",
                      fault == nullptr ? style.good("PASS") : style.bad("FAIL"), result.count(Blame::clean),
                      result.count(Blame::inherits), result.count(Blame::guilty), result.count(Blame::miswired));
  return text;
}

nlohmann::ordered_json attribution_json(const Attribution& result) {
  nlohmann::ordered_json json = environment_json();
  json["recipe"] = result.recipe;
  json["passed"] = result.first_fault() == nullptr;
  for (const PromptAttribution& prompt : result.prompts) {
    nlohmann::ordered_json sites = nlohmann::ordered_json::array();
    for (const SiteAttribution& one : prompt.sites) {
      nlohmann::ordered_json site = {{"site", one.site},
                                     {"verdict", blame_name(one.blame)},
                                     {"op", one.op},
                                     {"variant", one.variant},
                                     {"local_bounds", one.local.comparison.margin},
                                     {"bits_only", one.local.comparison.bits_only},
                                     {"total", one.total},
                                     {"inherited", one.inherited},
                                     {"own", one.own},
                                     {"amplification", one.amplification},
                                     {"remarks", one.remarks}};
      if (one.golden.verdict == SiteVerdict::not_judged) {
        site["golden_not_judged"] = one.golden.why_not;
      } else {
        site["golden_bounds"] = one.golden.excess.ratio;
        site["explanations"] = one.golden.explanations;
      }
      sites.push_back(std::move(site));
    }
    json["prompts"].push_back({{"prompt", prompt.prompt}, {"tokens", prompt.tokens}, {"rows", prompt.rows}, {"sites", sites}});
  }
  return json;
}

}  // namespace assay
