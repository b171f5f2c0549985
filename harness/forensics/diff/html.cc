#include "harness/forensics/diff/html.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/forensics/diff/html_parts.h"
#include "harness/forensics/diff/report.h"

namespace assay::diff {
namespace {

using assay::html::list_of;
using html::escape;
// Three digits are what hovering shows; null stands for infinity.
nlohmann::json rounded(double value) {
  return std::isfinite(value) ? nlohmann::json(std::stod(fmt::format("{:.2e}", value))) : nlohmann::json(nullptr);
}

nlohmann::json hover_data(const PromptDiff& prompt) {
  nlohmann::json out{{"sites", nlohmann::json::array()}, {"rows", nlohmann::json::array()}, {"cells", nlohmann::json::array()}};
  const auto bins = html::row_bins(prompt);
  for (const auto& bin : bins) out["rows"].push_back(html::bin_label(prompt, bin));
  for (std::size_t i = 0; i < prompt.errors.size(); ++i) {
    const SiteError& error = prompt.errors[i];
    const auto position = prompt.alignment.positions[static_cast<std::size_t>(error.largest_row)];
    out["sites"].push_back({error.site, rounded(error.relative), rounded(error.largest_row_relative()), position,
                            rounded(prompt.growth[i].inherited), rounded(error.max_abs), error.cosine,
                            worst_index(prompt, error)});
    nlohmann::json cells = nlohmann::json::array();
    for (const auto& bin : bins) cells.push_back(rounded(html::bin_error(error, bin)));
    out["cells"].push_back(std::move(cells));
  }
  return out;
}

// JSON within a script element: nothing in it may end the element.
std::string script_json(const nlohmann::json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  for (const char c : text) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string files_table(const TraceDiff& diff) {
  std::string out =
      R"(<div class="scroll"><table class="files"><tr><th></th><th>file</th><th>model</th><th>weights</th><th>recipe</th>)"
      "<th>rope</th><th>computed in</th></tr>";
  for (const FileHead& file : diff.files) {
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>", file.letter,
                       escape(file.path), escape(file.model), escape(file.weights), escape(file.recipe), escape(file.rope),
                       escape(file.dtype));
  }
  return out + "</table></div>";
}

std::string alignment_html(const PromptDiff& prompt) {
  const Alignment& alignment = prompt.alignment;
  std::string out;
  if (!alignment.problems.empty()) out += "<p><strong>Not aligned</strong></p>" + list_of(alignment.problems, "bad-text");
  std::vector<std::string> lines;
  for (const LoneRows& rows : alignment.lone) {
    lines.push_back(fmt::format("rows in {} alone, not compared: {}", rows.sides, ranges_text(rows.positions)));
  }
  if (alignment.left_out > 0) lines.push_back(fmt::format("sites that --sites leaves out: {}", alignment.left_out));
  if (!alignment.own.empty()) {
    lines.push_back(fmt::format("sites in Assay's own traces alone, not compared: {}", alignment.own.size()));
  }
  return out + list_of(lines, "note");
}

std::string divergence_banner(const PromptDiff& prompt) {
  const auto sites = prompt.divergences();
  if (prompt.errors.empty()) return R"(<p class="banner bad">Nothing was compared.</p>)";
  if (sites.empty()) {
    return fmt::format(R"(<p class="banner good">No divergence at {}.</p>)", counted(std::ssize(prompt.errors), "site"));
  }
  const std::string& site = prompt.errors[sites.front()].site;
  std::string out = fmt::format(R"(<p class="banner bad first-divergence" data-site="{}"><strong>First divergence:</strong> {})",
                                escape(site), escape(describe_divergence(prompt, sites.front())));
  if (sites.size() > 1)
    out += fmt::format("<br>Likewise over their own inputs: {}.", counted(std::ssize(sites) - 1, "later site"));
  return out + "</p>";
}

std::string logits_html(const char* whose, const LogitsDiff& logits, bool diverges) {
  std::string out = fmt::format("<p>Logits{}: {}, top-{} overlap {:.3f}, KL {:.2e} (largest {:.2e} at {}), {}.</p>", whose,
                                counted(logits.rows, "row"), logits.top, logits.overlap, logits.mean_kl, logits.largest_kl,
                                logits.largest_kl_position, counted(std::ssize(logits.flips), "flip"));
  std::vector<std::string> flips;
  for (const LogitsFlip& flip : logits.flips) flips.push_back(describe_flip(flip, diverges));
  return out + list_of(flips, "note");
}

std::string outcome_html(const PromptDiff& prompt) {
  std::string out;
  if (prompt.logits) out += logits_html("", *prompt.logits, !prompt.divergences().empty());
  if (prompt.logits_against) out += logits_html(" of C", *prompt.logits_against, false);
  if (prompt.greedy && prompt.greedy->parting) {
    out += fmt::format("<p>Greedy text parts at token {}, where B's gap is {:.2e}.</p>", *prompt.greedy->parting,
                       prompt.greedy->gap);
  } else if (prompt.greedy) {
    out += "<p>Greedy text: the same " + counted(prompt.greedy->compared, "token") + ".</p>";
  }
  if (!prompt.against.empty()) {
    out += fmt::format("<p>|A - B| is at most |C - B| (RMS) at {} of {}.</p>", prompt.below(),
                       counted(std::ssize(prompt.errors), "site"));
  }
  return out;
}

std::string sites_table(const PromptDiff& prompt) {
  std::string out = R"(<details><summary>All sites as a table</summary><div class="scroll"><table><tr><th>site</th>)";
  for (const char* name : {"max abs", "RMS", "relative RMS", "worst row", "of inputs", "cosine", "ours", "theirs", "at"}) {
    out += fmt::format(R"(<th class="number">{}</th>)", name);
  }
  out += "</tr>";
  for (std::size_t i = 0; i < prompt.errors.size(); ++i) {
    const SiteError& error = prompt.errors[i];
    out += fmt::format(R"(<tr{}><td class="name">{}</td>)", prompt.growth[i].diverges ? R"( class="diverges")" : "",
                       escape(error.site));
    for (const std::string& cell :
         {fmt::format("{:.2e}", error.max_abs), fmt::format("{:.2e}", error.rms), fmt::format("{:.2e}", error.relative),
          fmt::format("{:.2e}", error.largest_row_relative()), fmt::format("{:.2e}", prompt.growth[i].inherited),
          fmt::format("{:.9f}", error.cosine), fmt::format("{:.8g}", error.ours), fmt::format("{:.8g}", error.theirs),
          worst_index(prompt, error)}) {
      out += R"(<td class="number">)" + cell + "</td>";
    }
    out += "</tr>";
  }
  return out + "</table></div></details>";
}

std::string section(const PromptDiff& prompt, std::size_t index) {
  std::string out = fmt::format(R"(<section id="prompt-{0}" data-prompt="{0}"><h2>{1}</h2>)", index, escape(prompt.name));
  out += fmt::format(R"(<p class="note">{}; {} compared{}</p>)", counted(prompt.tokens, "token"),
                     counted(std::ssize(prompt.alignment.positions), "row"),
                     prompt.called.empty() ? "" : "; named otherwise in " + escape(prompt.called));
  out += alignment_html(prompt) + divergence_banner(prompt) + outcome_html(prompt);
  if (prompt.errors.empty()) return out + "</section>";
  out += R"(<p class="note">)" + escape(describe_threshold(prompt)) + "</p>";
  out += "<h3>Error by site</h3>" + html::overview(prompt) + "<h3>By op, over the layers</h3>" + html::op_panels(prompt);
  out += "<h3>Site by token</h3>" + html::heat_map(prompt) + sites_table(prompt);
  return out + "</section>";
}

std::string navigation(const TraceDiff& diff) {
  if (diff.prompts.size() < 2) return "";
  std::string out = "<nav>";
  for (std::size_t i = 0; i < diff.prompts.size(); ++i) {
    const PromptDiff& prompt = diff.prompts[i];
    const bool bad = !prompt.aligned() || !prompt.divergences().empty();
    out += fmt::format(R"(<a href="#prompt-{}"{}>{}</a>)", i, bad ? R"( class="bad")" : "", escape(prompt.name));
  }
  return out + "</nav>";
}

}  // namespace

std::string diff_html(const TraceDiff& diff) {
  const bool good = diff.aligned() && diff.diverged().empty();
  std::string out = assay::html::page_head("assay diff", html::kStyle, assay::html::Scripts::own);
  out += "<h1>assay diff</h1>" + files_table(diff);
  // Of a single prompt the section's own banner says it all.
  if (diff.prompts.size() > 1) {
    out += fmt::format(R"(<p class="banner {}"><strong>{}</strong></p>)", good ? "good" : "bad", escape(verdict(diff)));
  }
  out += list_of(diff.notes, "warn-text") + navigation(diff) + "\n";
  nlohmann::json data = nlohmann::json::array();
  for (std::size_t i = 0; i < diff.prompts.size(); ++i) {
    out += section(diff.prompts[i], i) + "\n";
    data.push_back(hover_data(diff.prompts[i]));
  }
  out += "<div id=\"tip\"></div>\n<script id=\"data\" type=\"application/json\">" + script_json(data) + "</script>\n<script>";
  return out + html::kScript + "</script>\n</body></html>\n";
}

}  // namespace assay::diff
