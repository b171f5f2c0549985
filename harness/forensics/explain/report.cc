#include "harness/forensics/explain/report.h"

#include <fmt/format.h>

#include <cmath>

namespace assay::why {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 6;

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string explanation_text(const Explanation& one, const ExplainResult& result, const Style& style) {
  std::string text = fmt::format("  {}{}\n", style.strong(one.words), one.when.empty() ? "" : ", in the calls whose " + one.when);
  text += fmt::format("    breaks {}: \"{}\"\n", result.header, one.law);
  if (!one.properties.empty()) text += fmt::format("    .properties = \"{}\" would declare it\n", one.properties);
  return text;
}

std::string near_text(const Near& one, std::size_t failing) {
  const std::string rest =
      std::isfinite(one.margin) ? fmt::format(", and leaves {:.3g} of {:.3g} bounds", one.margin, one.before) : "";
  if (one.broken > 0)
    return fmt::format("  near: {}: but {} that pass would fail, such as {}\n", one.words, plural(one.broken, "case"),
                       one.against);
  return fmt::format("  near: {}: explains {} of {}{}; not {}\n", one.words, one.explained, failing, rest, one.against);
}

std::string kernel_text(const KernelExplanation& kernel, const ExplainResult& result, const Style& style) {
  std::string text = fmt::format("{}: {} by values, {}\n", style.strong(variant_label(result.op, kernel.variant)),
                                 plural(kernel.failing.size(), "case") + (kernel.failing.size() == 1 ? " fails" : " fail"),
                                 fmt::format("{} pass", kernel.passing));
  if (kernel.otherwise > 0)
    text += fmt::format("  {} more by a crash or a status, which no computation explains\n", plural(kernel.otherwise, "case"));
  if (kernel.unheld > 0)
    text += fmt::format("  {} that pass were too large to keep, and were not asked\n", plural(kernel.unheld, "case"));
  if (kernel.failing.empty()) return text;
  for (std::size_t i = 0; i < std::min(kernel.told.size(), kShown); ++i) text += explanation_text(kernel.told[i], result, style);
  if (kernel.told.size() > kShown)
    text += fmt::format("  and {} more, equally simple: the JSON has them\n", kernel.told.size() - kShown);
  if (kernel.told.size() > 1)
    text += fmt::format("  each of them fits every case, those that pass too: the cases do not tell them apart\n");
  if (kernel.told.empty()) text += fmt::format("  none: of {} hypotheses none fits every case\n", kernel.tried);
  if (!kernel.permits.empty())
    text += fmt::format(
        "  every case passes as declared by .properties = \"{}\", which widens the bound: no proof that it computes so\n",
        kernel.permits);
  for (const Near& one : kernel.near) text += near_text(one, kernel.failing.size());
  if (kernel.ended_early) text += "  ended by the time that it may take: others may fit\n";
  return text;
}

Json explanation_json(const Explanation& one) {
  Json json{{"name", one.name}, {"kind", one.kind}, {"words", one.words}, {"law", one.law}};
  if (!one.when.empty()) json["when"] = {{"words", one.when}, {"kind", one.when_kind}, {"of", one.when_of}};
  if (!one.properties.empty()) json["properties"] = one.properties;
  json["only_where"] = one.only_where();
  json["cost"] = one.cost;
  json["margin"] = one.margin;
  return json;
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json("inf");
}

}  // namespace

std::string explain_text(const ExplainResult& result, const Style& style) {
  std::string text;
  for (const KernelExplanation& kernel : result.kernels) text += kernel_text(kernel, result, style);
  if (result.kernels.empty())
    text = fmt::format("{}: no case fails classes, bound or exact: there is nothing to explain\n", result.op);
  for (const Skip& skip : result.skips) text += fmt::format("not run: {}: {}\n", skip.what, skip.why);
  return text;
}

Json explain_json(const ExplainResult& result) {
  Json json{{"op", result.op}, {"header", result.header}};
  if (!result.runner.empty()) json["runner"] = result.runner;
  json["kernels"] = Json::array();
  for (const KernelExplanation& kernel : result.kernels) {
    Json one{{"variant", kernel.variant},         {"failing", kernel.failing},     {"passing", kernel.passing},
             {"otherwise", kernel.otherwise},     {"unheld", kernel.unheld},       {"hypotheses", kernel.tried},
             {"ended_early", kernel.ended_early}, {"explanations", Json::array()}, {"near", Json::array()}};
    if (!kernel.permits.empty()) one["permits"] = kernel.permits;
    for (const Explanation& told : kernel.told) one["explanations"].push_back(explanation_json(told));
    for (const Near& near : kernel.near)
      one["near"].push_back({{"name", near.name},
                             {"words", near.words},
                             {"explained", near.explained},
                             {"broken", near.broken},
                             {"margin", number(near.margin)},
                             {"before", number(near.before)},
                             {"against", near.against}});
    json["kernels"].push_back(std::move(one));
  }
  json["skips"] = Json::array();
  for (const Skip& skip : result.skips) json["skips"].push_back({{"what", skip.what}, {"why", skip.why}});
  json["text"] = explain_text(result, Style::from_mode("never"));
  return json;
}

}  // namespace assay::why
