#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/forensics/attribute/attribute.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/verdict/shell.h"

namespace assay {
namespace {

constexpr const char* kLegend =
    "kernel  the kernel against the reference on the same inputs, in bounds of its op; above 1: GUILTY\n"
    "golden  the golden's output against the definition on the golden's inputs, in bounds of its recipe; above 1: MISWIRED\n"
    "error   ours against the golden's, relative RMS\n"
    "growth  that error, less the kernel's own, over the largest error among the site's inputs\n";

struct KindSum {
  std::string kind;
  std::int64_t counts[5] = {};
  std::int64_t not_judged = 0;
  double margin = 0;
  double golden = 0;
  double total = 0;
  double amplification = 0;
};

std::vector<KindSum> sums_of(const PromptAttribution& prompt) {
  std::vector<KindSum> sums;
  for (const SiteAttribution& one : prompt.sites) {
    auto found = std::ranges::find(sums, parse_site(one.site).op, &KindSum::kind);
    if (found == sums.end()) {
      sums.emplace_back();
      found = sums.end() - 1;
      found->kind = parse_site(one.site).op;
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

// An empty cell where there is nothing to say.
std::string number(double value, const char* format) {
  return value > 0 ? fmt::format(fmt::runtime(format), value) : "";
}

std::string kinds_table(const PromptAttribution& prompt, const Style& style) {
  Table table(
      {"site", ">clean", ">inherits", ">GUILTY", ">MISWIRED", ">golden not judged", ">kernel", ">golden", ">error", ">growth"});
  for (const KindSum& sum : sums_of(prompt)) {
    const auto count = [&](Blame blame) { return fmt::format("{}", sum.counts[static_cast<std::size_t>(blame)]); };
    const auto bad = [&](Blame blame) { return count(blame) == "0" ? "0" : style.bad(count(blame)); };
    table.add({sum.kind, count(Blame::clean), count(Blame::inherits), bad(Blame::guilty), bad(Blame::miswired),
               fmt::format("{}", sum.not_judged), number(sum.margin, "{:.3g}"), number(sum.golden, "{:.3g}"),
               number(sum.total, "{:.1e}"), number(sum.amplification, "{:.2f}")});
  }
  return table.render(style);
}

std::string sites_table(const PromptAttribution& prompt, const Style& style) {
  Table table({"site", "verdict", ">kernel", ">golden", ">error", ">inherited", ">own", ">growth"});
  for (const SiteAttribution& one : prompt.sites) {
    const bool judged = one.golden.verdict != SiteVerdict::not_judged;
    table.add({one.site, blame_name(one.blame), fmt::format("{:.3g}", one.local.comparison.margin),
               judged ? fmt::format("{:.3g}", one.golden.excess.ratio) : "-", number(one.total, "{:.1e}"),
               number(one.inherited, "{:.1e}"), number(one.own, "{:.1e}"), number(one.amplification, "{:.2f}")});
  }
  return table.render(style);
}

std::string guilty_text(const SiteAttribution& one) {
  if (!one.local.refusal.empty()) return ": " + one.local.refusal + ", which the reference takes\n";
  const auto& worst = one.local.comparison.wrong_class ? one.local.comparison.wrong_class : one.local.comparison.worst;
  std::string text = fmt::format(": {} is {:.3g} bounds off on its own inputs, token {}\n", one.variant,
                                 one.local.comparison.margin, one.local.row);
  if (worst) text += fmt::format("  got {}, the reference has {}\n", worst->got, worst->want);
  return text;
}

// Which inputs agree with the golden's, and that the output does not.
std::string agreement_text(const SiteAttribution& one) {
  constexpr double kSmall = 0.01;  // of the output's error
  if (!one.compared) return {};
  std::string text;
  for (const auto& [site, error] : one.inputs) {
    text +=
        fmt::format("  input {}: {} the golden's by {:.2g}\n", site, error < kSmall * one.total ? "agrees, off" : "off", error);
  }
  return text + fmt::format("  output: off the golden's by {:.2g} (relative RMS)\n", one.total);
}

std::string miswired_text(const SiteAttribution& one) {
  std::string text;
  if (one.golden.verdict == SiteVerdict::wrong) {
    text = fmt::format(": this plan and model do not make the golden's output of the golden's inputs, {:.3g} bounds off",
                       one.golden.excess.ratio);
  }
  text += "\n" + agreement_text(one);
  for (const std::string& remark : one.remarks) text += "  " + remark + "\n";
  for (const std::string& remark : one.golden.remarks) text += "  " + remark + "\n";
  for (const std::string& explanation : one.golden.explanations) text += "  the golden agrees with: " + explanation + "\n";
  if (one.remarks.empty() && one.golden.explanations.empty()) text += "  none of the known ways to be wrong explains it\n";
  return text;
}

// A cause that many sites share (theta, eps) is told once.
std::string faults_text(const PromptAttribution& prompt, const Style& style) {
  std::string text;
  std::map<std::vector<std::string>, std::string> told;
  for (const SiteAttribution& one : prompt.sites) {
    if (one.blame < Blame::guilty) continue;
    text += fmt::format("{} {}", style.bad(blame_name(one.blame)), one.site);
    const auto& why = one.golden.explanations;
    const auto before = one.blame == Blame::guilty || why.empty() ? told.end() : told.find(why);
    if (one.blame == Blame::guilty) {
      text += guilty_text(one);
    } else if (before != told.end() && one.remarks.empty()) {
      text += fmt::format(": {:.3g} bounds off, as {}: {}\n", one.golden.excess.ratio, before->second, why.front());
    } else {
      text += miswired_text(one);
      told.emplace(why, one.site);
    }
  }
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

std::string verdict_text(const Attribution& result, const AttributionNames& names, const Style& style) {
  std::string text = fmt::format("\n{}: {} clean, {} inherit, {} guilty, {} miswired",
                                 result.passed() ? style.good("PASS") : style.bad("FAIL"), result.count(Blame::clean),
                                 result.count(Blame::inherits), result.count(Blame::guilty), result.count(Blame::miswired));
  if (result.count(Blame::not_run) > 0) text += fmt::format(", {} not run", result.count(Blame::not_run));
  text += fmt::format("; golden side of {} not judged\n", result.not_judged());
  const auto fault = result.first_fault();
  if (!fault) return text;
  text += fmt::format("first: {} {}\n", blame_name(fault->site->blame), fault->site->site);
  if (fault->prompt->tokens > 0) text += reproduce_command(*fault, names);
  return text;
}

}  // namespace

// A guilty kernel is met with on the inputs that it had in our run. Of a wrong wiring a kernel's check would pass: the golden is held to the
// model's definition, and the model's own numbers are shown.
std::string reproduce_command(const Attribution::Fault& fault, const AttributionNames& names) {
  const std::string model = quoted(names.model);
  const std::string golden = quoted(names.golden);
  const std::string prompt = quoted(fault.prompt->prompt);
  if (fault.site->blame != Blame::guilty)
    return fmt::format("  assay audit {0} {1} --prompt {2}\n  assay inspect {0}\n", model, golden, prompt);
  const bool fused = fault.site->op.starts_with("linear_");
  const bool foreign = fault.site->variant.find(':') != std::string::npos;
  return fmt::format("  assay trace {} --golden {} --prompt {}{} -o ours.h5\n", model, golden, prompt, names.kernels) +
         fmt::format("  assay extract ours.h5 {} --prompt {} --model {}{} -o case.h5\n  assay check {} --golden case.h5{}\n",
                     fault.site->site, prompt, model, fused ? " --fused" : "", fault.site->op,
                     foreign ? names.plugins + " --variant " + fault.site->variant : "");
}

std::string attribution_text(const Attribution& result, bool all, const AttributionNames& names, const Style& style) {
  std::string text = fmt::format("{}the golden's recipe: {}\n", kLegend, result.recipe);
  for (const PromptAttribution& prompt : result.prompts) {
    text += fmt::format("\n{}, {} tokens, {} rows kept\n", style.strong(prompt.prompt), prompt.tokens, prompt.rows);
    text += all ? sites_table(prompt, style) : kinds_table(prompt, style);
    text += faults_text(prompt, style);
    if (!prompt.stopped.empty()) text += style.bad("the run ended early") + ": " + prompt.stopped + "\n";
    text += not_judged_text(prompt);
  }
  return text + verdict_text(result, names, style);
}

}  // namespace assay
