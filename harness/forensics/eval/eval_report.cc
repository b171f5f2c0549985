#include "harness/forensics/eval/eval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace assay {
namespace {

// A token as it reads, on one line.
std::string spelling(const Tokenizer* tokenizer, std::int64_t token) {
  if (tokenizer == nullptr || token >= tokenizer->size()) return fmt::format("{}", token);
  const auto id = static_cast<std::int32_t>(token);
  return fmt::format("{} {}", token, nlohmann::json(tokenizer->decode({&id, 1})).dump());
}

std::string top1(const LogitsComparison& logits) {
  return fmt::format("{}/{}", logits.rows() - std::ssize(logits.flips()), logits.rows());
}

// The widest gaps first: a flip that had little to overcome says little.
std::string flip_lines(const std::string& where, const LogitsComparison& logits, const Tokenizer* tokenizer) {
  constexpr std::size_t kShown = 8;
  std::vector<Flip> flips = logits.flips();
  std::ranges::stable_sort(flips, std::ranges::greater(), [](const Flip& flip) { return flip.row.gap; });
  std::string out;
  for (const Flip& flip : std::span(flips).first(std::min(flips.size(), kShown))) {
    out += fmt::format("{}, after token {}: ours {}, theirs {} by {:.3g}; the row's logits differ by {:.3g} RMS\n", where,
                       flip.position, spelling(tokenizer, flip.row.ours), spelling(tokenizer, flip.row.theirs), flip.row.gap,
                       flip.row.rms);
  }
  if (flips.size() > kShown) out += fmt::format("and {} with smaller gaps (--json lists them)\n", flips.size() - kShown);
  return out;
}

std::string greedy_line(const PromptEvaluation& prompt, const Tokenizer* tokenizer, const Style& style) {
  const GreedyComparison& greedy = *prompt.greedy;
  if (greedy.all_equal()) return {};
  const bool tie = prompt.greedy_is_tie();
  return fmt::format(
      "{}, greedy token {}: ours {} by {:.3g}, theirs {} by {:.3g}; the prompt's logits differ by {:.3g} RMS: {}\n", prompt.name,
      greedy.equal, spelling(tokenizer, greedy.ours), greedy.our_gap, spelling(tokenizer, greedy.theirs), greedy.their_gap,
      prompt.logits_rms, tie ? "a tie within that error" : style.warn("more than that error"));
}

std::string prompts_table(std::span<const PromptEvaluation> prompts, const Tokenizer* tokenizer, const Style& style) {
  Table table({"prompt", ">tokens", ">rows", "text", ">KL", ">largest KL", ">NMSE", ">top-1", ">greedy"});
  std::string notes;
  for (const PromptEvaluation& prompt : prompts) {
    const bool logits = prompt.logits.rows() > 0;
    const auto number = [&](double value) { return logits ? fmt::format("{:.2e}", value) : std::string("-"); };
    table.add({prompt.name, std::to_string(prompt.tokens), std::to_string(prompt.rows),
               !prompt.same_tokens   ? "-"
               : *prompt.same_tokens ? "same tokens"
                                     : style.bad("other tokens"),
               number(prompt.logits.mean_kl()), number(prompt.logits.largest_kl()), number(prompt.logits.nmse()),
               top1(prompt.logits), prompt.greedy ? fmt::format("{}/{}", prompt.greedy->equal, prompt.greedy->tokens) : "-"});
    notes += flip_lines(prompt.name, prompt.logits, tokenizer);
    if (prompt.greedy) notes += greedy_line(prompt, tokenizer, style);
    if (!prompt.apart.empty()) notes += fmt::format("{}, not compared: {}\n", prompt.name, fmt::join(prompt.apart, ", "));
  }
  return table.render(style) + notes;
}

std::vector<SiteRms> all_sites(std::span<const PromptEvaluation> prompts) {
  std::vector<SiteRms> out;
  for (const PromptEvaluation& prompt : prompts) out.insert(out.end(), prompt.sites.begin(), prompt.sites.end());
  return out;
}

std::string kinds_table(std::span<const PromptEvaluation> prompts, const EvalNames& names, const Style& style) {
  const std::vector<SiteRms> errors = all_sites(prompts);
  std::vector<KindErrors> kinds = errors_by_kind(errors);
  kinds.push_back(errors_over_all(errors));
  Table table({"site", ">count", ">exact", ">median", ">worst", "worst at"});
  for (const KindErrors& kind : kinds) {
    const bool any = kind.at != nullptr;
    table.add({kind.kind, std::to_string(kind.sites), std::to_string(kind.exact), any ? fmt::format("{:.3g}", kind.median) : "-",
               any ? fmt::format("{:.3g}", kind.worst) : "-", any ? kind.at->site + ", " + kind.at->prompt : ""});
  }
  const std::string what = names.beside.empty() ? "RMS(ours - theirs) / RMS(theirs)"
                                                : fmt::format("RMS(ours - truth) / RMS(other - truth); truth {}, other {}",
                                                              names.against, names.beside);
  return what + "\n" + table.render(style);
}

nlohmann::ordered_json likelihood_json(const TokenLikelihood& likelihood) {
  return {{"scored", likelihood.tokens()},
          {"nll", likelihood.mean()},
          {"nll_standard_error", likelihood.standard_error()},
          {"perplexity", likelihood.perplexity()}};
}

nlohmann::ordered_json logits_json(const LogitsComparison& logits) {
  nlohmann::ordered_json json{{"rows", logits.rows()}, {"kl", logits.mean_kl()},     {"largest_kl", logits.largest_kl()},
                              {"nmse", logits.nmse()}, {"top1", logits.agreement()}, {"flips", nlohmann::ordered_json::array()}};
  for (const Flip& flip : logits.flips()) {
    json["flips"].push_back({{"position", flip.position},
                             {"ours", flip.row.ours},
                             {"theirs", flip.row.theirs},
                             {"gap", flip.row.gap},
                             {"rms", flip.row.rms}});
  }
  return json;
}

nlohmann::ordered_json greedy_json(const PromptEvaluation& prompt) {
  const GreedyComparison& greedy = *prompt.greedy;
  nlohmann::ordered_json json{{"tokens", greedy.tokens}, {"equal", greedy.equal}};
  if (greedy.all_equal()) return json;
  json["ours"] = greedy.ours;
  json["theirs"] = greedy.theirs;
  json["our_gap"] = greedy.our_gap;
  json["their_gap"] = greedy.their_gap;
  json["tie"] = prompt.greedy_is_tie();
  return json;
}

nlohmann::ordered_json kind_json(const KindErrors& kind) {
  nlohmann::ordered_json json{{"site", kind.kind}, {"count", kind.sites}, {"exact", kind.exact}};
  if (kind.at == nullptr) return json;
  json["median"] = kind.median;
  json["worst"] = kind.worst;
  json["worst_at"] = {{"site", kind.at->site}, {"prompt", kind.at->prompt}};
  return json;
}

nlohmann::ordered_json prompt_json(const PromptEvaluation& prompt) {
  nlohmann::ordered_json json{{"prompt", prompt.name}, {"tokens", prompt.tokens}, {"rows", prompt.rows}};
  if (prompt.same_tokens) json["same_tokens"] = *prompt.same_tokens;
  json["logits"] = logits_json(prompt.logits);
  json["logits"]["rms"] = prompt.logits_rms;
  if (prompt.greedy) json["greedy"] = greedy_json(prompt);
  json["sites"] = nlohmann::ordered_json::array();
  for (const SiteRms& site : prompt.sites) {
    nlohmann::ordered_json one{{"site", site.site}, {"rms", site.ours}, {"trace_rms", site.size}};
    if (site.other) one["other_rms"] = *site.other;
    json["sites"].push_back(one);
  }
  json["not_compared"] = prompt.apart;
  return json;
}

void put_names(nlohmann::ordered_json& json, const EvalNames& names) {
  json["model"] = names.model;
  if (!names.against.empty()) json["against"] = names.against;
  if (!names.beside.empty()) json["beside"] = names.beside;
  if (!names.text.empty()) json["text"] = names.text;
}

}  // namespace

std::string text_report(const TextEvaluation& evaluation, const EvalNames& names, const Tokenizer* tokenizer,
                        const Style& style) {
  std::string out = fmt::format("{}: {} tokens, {} window{} of at most {}\n", names.text, evaluation.tokens, evaluation.windows,
                                evaluation.windows == 1 ? "" : "s", evaluation.context);
  Table table({"model", ">scored", ">nll", ">+-", ">perplexity"});
  const auto add = [&](const std::string& name, const TokenLikelihood& one) {
    table.add({name, std::to_string(one.tokens()), fmt::format("{:.5f}", one.mean()), fmt::format("{:.5f}", one.standard_error()),
               fmt::format("{:.4f}", one.perplexity())});
  };
  add(names.model, evaluation.ours);
  if (evaluation.other) add(names.against, evaluation.other->likelihood);
  out += table.render(style);
  if (!evaluation.other) return out;
  const LogitsComparison& logits = evaluation.other->logits;
  out += fmt::format("KL {:.3e} (largest {:.3e}), NMSE {:.3e}, top-1 {} ({:.2f}%), {} flips\n", logits.mean_kl(),
                     logits.largest_kl(), logits.nmse(), top1(logits), 100 * logits.agreement(), logits.flips().size());
  return out + flip_lines("flip", logits, tokenizer);
}

std::string trace_report(std::span<const PromptEvaluation> prompts, const EvalNames& names, const Tokenizer* tokenizer,
                         const Style& style) {
  return fmt::format("{} against {}\n", names.model, names.against) + prompts_table(prompts, tokenizer, style) + "\n" +
         kinds_table(prompts, names, style);
}

nlohmann::ordered_json text_json(const TextEvaluation& evaluation, const EvalNames& names) {
  nlohmann::ordered_json json;
  put_names(json, names);
  json["tokens"] = evaluation.tokens;
  json["context"] = evaluation.context;
  json["windows"] = evaluation.windows;
  json["ours"] = likelihood_json(evaluation.ours);
  if (!evaluation.other) return json;
  json["theirs"] = likelihood_json(evaluation.other->likelihood);
  json["logits"] = logits_json(evaluation.other->logits);
  return json;
}

nlohmann::ordered_json trace_json(std::span<const PromptEvaluation> prompts, const EvalNames& names) {
  nlohmann::ordered_json json;
  put_names(json, names);
  json["figure"] = names.beside.empty() ? "rms / trace_rms" : "rms / other_rms";
  const std::vector<SiteRms> errors = all_sites(prompts);
  json["kinds"] = nlohmann::ordered_json::array();
  for (const KindErrors& kind : errors_by_kind(errors)) json["kinds"].push_back(kind_json(kind));
  json["all"] = kind_json(errors_over_all(errors));
  json["prompts"] = nlohmann::ordered_json::array();
  for (const PromptEvaluation& prompt : prompts) json["prompts"].push_back(prompt_json(prompt));
  return json;
}

}  // namespace assay
