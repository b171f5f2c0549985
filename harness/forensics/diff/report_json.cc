#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/forensics/diff/report.h"
#include "harness/reports/report.h"

namespace assay::diff {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: null stands for it.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json error_json(const PromptDiff& prompt, const SiteError& error) {
  const auto position = [&](std::int64_t row) { return prompt.alignment.positions[static_cast<std::size_t>(row)]; };
  return {{"elements", error.elements},
          {"max_abs", number(error.max_abs)},
          {"rms", number(error.rms)},
          {"relative_rms", number(error.relative)},
          {"cosine", error.cosine},
          {"worst",
           {{"position", position(error.worst_row)},
            {"index", error.worst_at},
            {"ours", number(error.ours)},
            {"theirs", number(error.theirs)}}},
          {"not_finite", error.not_finite},
          {"worst_row", {{"position", position(error.largest_row)}, {"relative_rms", number(error.largest_row_relative())}}}};
}

Json site_json(const PromptDiff& prompt, std::size_t i) {
  Json out{{"site", prompt.errors[i].site}};
  out.update(error_json(prompt, prompt.errors[i]));
  const Growth& growth = prompt.growth[i];
  out["inputs"] = growth.inputs;
  out["inherited"] = number(growth.inherited);
  out["growth"] = number(growth.growth);
  out["diverges"] = growth.diverges;
  if (!prompt.against.empty()) out["against"] = error_json(prompt, prompt.against[i]);
  return out;
}

Json logits_json(const LogitsDiff& logits) {
  Json out{{"rows", logits.rows},
           {"not_finite", logits.not_finite},
           {"top", logits.top},
           {"overlap", logits.overlap},
           {"least_overlap", logits.least_overlap},
           {"kl", logits.mean_kl},
           {"largest_kl", logits.largest_kl},
           {"largest_kl_position", logits.largest_kl_position},
           {"flips", Json::array()}};
  for (const LogitsFlip& flip : logits.flips) {
    out["flips"].push_back({{"position", flip.position},
                            {"ours", flip.row.ours},
                            {"theirs", flip.row.theirs},
                            {"gap", flip.row.gap},
                            {"error_rms", flip.row.rms},
                            {"tie", flip.tie()}});
  }
  return out;
}

Json prompt_json(const PromptDiff& prompt) {
  Json out{{"prompt", prompt.name},
           {"tokens", prompt.tokens},
           {"rows_kept", prompt.kept},
           {"positions", prompt.alignment.positions},
           {"not_aligned", prompt.alignment.problems},
           {"own_sites", prompt.alignment.own},
           {"sites_left_out", prompt.alignment.left_out},
           {"lone_rows", Json::array()},
           {"threshold",
            {{"floor", prompt.threshold.floor}, {"growth", prompt.threshold.growth}, {"origin", prompt.threshold.origin}}},
           {"first_divergence", nullptr},
           {"sites", Json::array()}};
  if (prompt.threshold.most_rows) out["threshold"]["median_row_floor"] = *prompt.threshold.most_rows;
  for (const LoneRows& rows : prompt.alignment.lone) {
    out["lone_rows"].push_back({{"in", rows.sides}, {"positions", rows.positions}});
  }
  const auto sites = prompt.divergences();
  if (!sites.empty()) out["first_divergence"] = prompt.errors[sites.front()].site;
  for (std::size_t i = 0; i < prompt.errors.size(); ++i) out["sites"].push_back(site_json(prompt, i));
  if (prompt.logits) out["logits"] = logits_json(*prompt.logits);
  if (prompt.logits_against) out["logits_against"] = logits_json(*prompt.logits_against);
  if (prompt.greedy) {
    out["greedy"] = {{"compared", prompt.greedy->compared}, {"parting", nullptr}};
    if (prompt.greedy->parting) out["greedy"].update({{"parting", *prompt.greedy->parting}, {"gap", prompt.greedy->gap}});
  }
  if (!prompt.against.empty()) out["sites_not_above_against"] = prompt.below();
  return out;
}

}  // namespace

Json diff_json(const TraceDiff& diff) {
  Json out = environment_json();
  for (const FileHead& file : diff.files) {
    out["files"].push_back({{"letter", file.letter},
                            {"path", file.path},
                            {"model", file.model},
                            {"weights", file.weights},
                            {"model_sha256", file.model_sha256},
                            {"recipe", file.recipe},
                            {"rope", file.rope},
                            {"dtype", file.dtype}});
  }
  out["notes"] = diff.notes;
  out["aligned"] = diff.aligned();
  out["diverged"] = !diff.diverged().empty();
  for (const PromptDiff& prompt : diff.prompts) out["prompts"].push_back(prompt_json(prompt));
  return out;
}

}  // namespace assay::diff
