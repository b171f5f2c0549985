#include "harness/forensics/diff/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/forensics/sites/site_name.h"

namespace assay::diff {
namespace {

std::string alignment_text(const PromptDiff& prompt, const Style& style) {
  const Alignment& alignment = prompt.alignment;
  std::string out;
  if (alignment.left_out > 0) out += fmt::format("sites that --sites leaves out: {}\n", alignment.left_out);
  for (const LoneRows& rows : alignment.lone) {
    out +=
        fmt::format("rows in {} alone, not compared: {} ({})\n", rows.sides, rows.positions.size(), ranges_text(rows.positions));
  }
  if (alignment.own.empty()) return out;
  std::set<std::string> ops;
  for (const std::string& site : alignment.own) ops.insert(std::string(parse_site(site).op));
  return out + style.faint(fmt::format("in Assay's own traces alone, not compared: {}: {}\n",
                                       counted(std::ssize(alignment.own), "site"), fmt::join(ops, ", ")));
}

std::string growth_text(const Growth& growth) {
  if (growth.growth == 0) return "";
  return growth.inherited > 0 ? fmt::format("{:.2f} x", growth.growth) : "from 0";
}

std::string site_table(const PromptDiff& prompt, const Style& style) {
  std::vector<std::string> head{"site",       ">max abs", ">rms",  ">relative", ">worst row",
                                ">of inputs", ">cosine",  ">ours", ">theirs",   "at"};
  const bool against = !prompt.against.empty();
  if (against) head.insert(head.begin() + 4, {">C's", ">ours / C's"});
  Table table(head);
  for (std::size_t i = 0; i < prompt.errors.size(); ++i) {
    const SiteError& error = prompt.errors[i];
    const Growth& growth = prompt.growth[i];
    std::vector<std::string> row{growth.diverges ? style.bad(error.site) : error.site,
                                 fmt::format("{:.2e}", error.max_abs),
                                 fmt::format("{:.2e}", error.rms),
                                 fmt::format("{:.2e}", error.relative),
                                 fmt::format("{:.2e}", error.largest_row_relative()),
                                 growth_text(growth),
                                 fmt::format("{:.9f}", error.cosine),
                                 fmt::format("{:.8g}", error.ours),
                                 fmt::format("{:.8g}", error.theirs),
                                 worst_index(prompt, error)};
    if (against) {
      const SiteError& other = prompt.against[i];
      const std::string ratio = other.rms > 0 ? fmt::format("{:.2g}", error.rms / other.rms) : error.rms > 0 ? "inf" : "";
      row.insert(row.begin() + 4, {fmt::format("{:.2e}", other.relative), error.rms > other.rms ? style.warn(ratio) : ratio});
    }
    table.add(row);
  }
  return table.render(style);
}

std::string divergence_text(const PromptDiff& prompt, const Style& style) {
  const std::vector<std::size_t> sites = prompt.divergences();
  if (prompt.errors.empty()) return style.bad("nothing was compared") + "\n";
  if (sites.empty()) return style.good("no divergence") + " at " + counted(std::ssize(prompt.errors), "site") + "\n";
  const SiteError& error = prompt.errors[sites.front()];
  std::string out = style.bad("first divergence: ") + describe_divergence(prompt, sites.front()) + "\n";
  out += fmt::format("  worst element {}: ours {:.9g}, theirs {:.9g}\n", worst_index(prompt, error), error.ours, error.theirs);
  if (error.not_finite > 0) out += "  finite in one and not in the other: " + counted(error.not_finite, "element") + "\n";
  if (sites.size() == 1) return out;
  std::vector<std::string> further;
  for (std::size_t i = 1; i < std::min<std::size_t>(sites.size(), 8); ++i) further.push_back(prompt.errors[sites[i]].site);
  return out + fmt::format("  likewise over their own inputs: {}: {}{}\n", counted(std::ssize(sites) - 1, "later site"),
                           fmt::join(further, ", "), sites.size() > 8 ? ", ..." : "");
}

std::string logits_text(const char* whose, const LogitsDiff& logits, bool diverges, const Style& style) {
  std::string out =
      fmt::format("logits{}: {}; top-{} overlap {:.3f}", whose, counted(logits.rows, "row"), logits.top, logits.overlap);
  if (logits.least_overlap < 1) out += fmt::format(" (least {:.2f}, at {})", logits.least_overlap, logits.least_overlap_position);
  out += fmt::format("; KL {:.2e} (largest {:.2e}, at {}); {}\n", logits.mean_kl, logits.largest_kl, logits.largest_kl_position,
                     counted(std::ssize(logits.flips), "flip"));
  if (logits.not_finite > 0) out += "  " + style.bad(counted(logits.not_finite, "row")) + " with a logit that is not finite\n";
  for (const LogitsFlip& flip : logits.flips) out += "  " + describe_flip(flip, diverges) + "\n";
  return out;
}

std::string greedy_text(const GreedyDiff& greedy) {
  if (!greedy.parting) return "greedy text: the same " + counted(greedy.compared, "token") + "\n";
  return fmt::format("greedy text: parts at token {} of {}, where theirs has a gap of {:.2e}\n", *greedy.parting, greedy.compared,
                     greedy.gap);
}

std::string against_text(const PromptDiff& prompt, const Style& style) {
  if (prompt.against.empty()) return "";
  const std::int64_t sites = std::ssize(prompt.errors);
  std::string out =
      fmt::format("against C: |A - B| is at most |C - B| (RMS) at {} of {}", prompt.below(), counted(sites, "site"));
  if (prompt.below() == sites) return style.good(out) + "\n";
  std::vector<std::string> above;
  for (std::size_t i = 0; i < prompt.errors.size() && above.size() < 8; ++i) {
    if (prompt.errors[i].rms > prompt.against[i].rms) above.push_back(prompt.errors[i].site);
  }
  return out + fmt::format("; not at {}{}\n", fmt::join(above, ", "), sites - prompt.below() > 8 ? ", ..." : "");
}

std::string prompt_text(const TraceDiff& diff, const PromptDiff& prompt, bool brief, const Style& style) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < prompt.kept.size(); ++i) kept.push_back(fmt::format("{} in {}", prompt.kept[i], "ABC"[i]));
  std::string out = fmt::format("\n{}{}: {}; {} compared ({}), of {}\n", style.strong("prompt " + prompt.name),
                                prompt.called.empty() ? "" : " (" + prompt.called + ")", counted(prompt.tokens, "token"),
                                counted(std::ssize(prompt.alignment.positions), "row"), ranges_text(prompt.alignment.positions),
                                fmt::join(kept, ", "));
  out += alignment_text(prompt, style);
  if (!prompt.errors.empty()) {
    out += describe_threshold(prompt) + "\n";
    if (!brief) out += site_table(prompt, style);
  }
  out += divergence_text(prompt, style);
  if (const std::string next = next_command(diff, prompt); !next.empty()) out += "  next: " + next + "\n";
  if (prompt.logits) out += logits_text("", *prompt.logits, !prompt.divergences().empty(), style);
  if (prompt.logits_against) out += logits_text(" of C", *prompt.logits_against, false, style);
  if (prompt.greedy) out += greedy_text(*prompt.greedy);
  return out + against_text(prompt, style);
}

}  // namespace

std::string worst_index(const PromptDiff& prompt, const SiteError& error) {
  std::string out = fmt::format("[{}", prompt.alignment.positions[static_cast<std::size_t>(error.worst_row)]);
  for (const std::int64_t index : error.worst_at) out += fmt::format(", {}", index);
  return out + "]";
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string describe_flip(const LogitsFlip& flip, bool diverges) {
  const char* why = !flip.tie() ? "no tie: the gap is beyond the error"
                    : !diverges ? "a tie within the error"
                                : "within the error, but a site before it diverges, which may be why";
  return fmt::format("flip at {}: {} instead of {}, gap {:.2e}, error {:.2e} (RMS): {}", flip.position, flip.row.ours,
                     flip.row.theirs, flip.row.gap, flip.row.rms, why);
}

std::string next_command(const TraceDiff& diff, const PromptDiff& prompt) {
  const auto sites = prompt.divergences();
  if (sites.empty()) return {};
  return fmt::format("assay extract {} {} --prompt {} --model MODEL -o case.h5", diff.files.front().path,
                     prompt.errors[sites.front()].site, prompt.name);
}

std::string describe_threshold(const PromptDiff& prompt) {
  std::string out =
      fmt::format("threshold: worst row's relative RMS above {:.2e} ({}) and above {:g} times that of the site's inputs",
                  prompt.threshold.floor, prompt.threshold.origin, prompt.threshold.growth);
  if (prompt.threshold.most_rows) {
    out +=
        fmt::format("; or the median row's above {:.2e} and that, where codes that flip at ties make it with a chance below {:g}",
                    *prompt.threshold.most_rows, kUnlikely);
  }
  return out;
}

std::string describe_divergence(const PromptDiff& prompt, std::size_t index) {
  const SiteError& error = prompt.errors[index];
  const Growth& growth = prompt.growth[index];
  std::string out = fmt::format("{}: relative RMS {:.2e} in the row of position {}", error.site, error.largest_row_relative(),
                                prompt.alignment.positions[static_cast<std::size_t>(error.largest_row)]);
  if (growth.in_most_rows) out += fmt::format(" and {:.2e} in the median row", error.median_row_relative());
  if (growth.inputs.empty()) return out + ", and no site before it";
  return out + fmt::format(", {:.2e} in its inputs ({})", growth.inherited, fmt::join(growth.inputs, ", "));
}

std::string verdict(const TraceDiff& diff) {
  std::int64_t sites = 0;
  std::int64_t unaligned = 0;
  for (const PromptDiff& prompt : diff.prompts) {
    sites += std::ssize(prompt.errors);
    unaligned += prompt.aligned() ? 0 : 1;
  }
  std::string out =
      unaligned == 0 ? "" : fmt::format("not aligned in {} of {}; ", unaligned, counted(std::ssize(diff.prompts), "prompt"));
  const auto diverged = diff.diverged();
  if (diverged.empty())
    return out + fmt::format("no divergence: {}, {}", counted(std::ssize(diff.prompts), "prompt"),
                             counted(sites, "comparison") + " of a site");
  std::vector<std::string> where;
  for (const PromptDiff* prompt : diverged) {
    where.push_back(fmt::format("{} at {}", prompt->name, prompt->errors[prompt->divergences().front()].site));
  }
  return out + fmt::format("divergence in {} of {}: {}", where.size(), counted(std::ssize(diff.prompts), "prompt"),
                           fmt::join(where, ", "));
}

std::string diff_text(const TraceDiff& diff, bool brief, const Style& style) {
  std::string out;
  for (const FileHead& file : diff.files) {
    out += fmt::format("{}  {}  {}, weights {}, recipe {}, rope {}, {}\n", style.strong(file.letter), file.path, file.model,
                       file.weights, file.recipe, file.rope, file.dtype);
  }
  for (const PromptDiff& prompt : diff.prompts) {
    for (const std::string& problem : prompt.alignment.problems) {
      out += style.bad("not aligned: ") + "prompt " + prompt.name + ": " + problem + "\n";
    }
  }
  for (const std::string& note : diff.notes) out += style.warn("note: ") + note + "\n";
  for (const PromptDiff& prompt : diff.prompts) out += prompt_text(diff, prompt, brief, style);
  const bool good = diff.aligned() && diff.diverged().empty();
  return out + "\n" + (good ? style.good(verdict(diff)) : style.bad(verdict(diff))) + "\n";
}

}  // namespace assay::diff
