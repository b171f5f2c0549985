#include "harness/forensics/diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/forensics/trace/prompts.h"

namespace assay::diff {
namespace {

constexpr const char* kLetters[] = {"A", "B", "C"};

FileHead head_of(const TraceFile& file, const char* letter) {
  return {letter,
          file.path().string(),
          file.head("model"),
          file.head("weights"),
          file.head("model_sha256"),
          file.head("recipe"),
          file.head("rope"),
          file.head("dtype")};
}

// Other weights make other numbers: said before any of them is read as a fault. Recipe, rope table and type differ by design.
std::vector<std::string> head_notes(const std::vector<FileHead>& files) {
  std::vector<std::string> notes;
  const FileHead& b = files[1];
  for (const FileHead& one : files) {
    if (one.model != b.model) notes.push_back(fmt::format("models differ: {} in {}, {} in B", one.model, one.letter, b.model));
    if (one.weights != b.weights) {
      notes.push_back(fmt::format("weights differ: {} in {}, {} in B; errors hold the difference of the weights too", one.weights,
                                  one.letter, b.weights));
    } else if (one.model_sha256 != b.model_sha256) {
      notes.push_back(fmt::format("the weights' files differ in {} and B (model_sha256)", one.letter));
    }
  }
  return notes;
}

// The prompt of that name, or else of those tokens.
std::optional<std::string> matching_prompt(const TraceFile& file, const TracePrompt& prompt) {
  const auto& names = file.prompts();
  if (std::find(names.begin(), names.end(), prompt.name) != names.end()) return prompt.name;
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return file.prompt(name).tokens == prompt.tokens; });
  return found == names.end() ? std::nullopt : std::optional(*found);
}

void compare_site(const std::string& site, const std::vector<Side>& sides, const DiffOptions& options, PromptDiff& out) {
  const auto& rows = out.alignment.rows;
  const Array a = sides[0].file->site(sides[0].prompt, site);
  const Array b = sides[1].file->site(sides[1].prompt, site);
  const bool logits = site == kLogitsSite;
  const auto compare_logits = [&](const Array& ours, std::size_t side) {
    return logits_diff(ours, rows[side], b, rows[1], out.alignment.positions, options.top);
  };
  out.errors.push_back(site_error(site, a, rows[0], b, rows[1]));
  if (logits) out.logits = compare_logits(a, 0);
  if (sides.size() < 3) return;
  const Array c = sides[2].file->site(sides[2].prompt, site);
  out.against.push_back(site_error(site, c, rows[2], b, rows[1]));
  if (logits) out.logits_against = compare_logits(c, 2);
}

PromptDiff compare_prompt(const std::vector<Side>& sides, const DiffOptions& options, const Rounding& rounding) {
  PromptDiff out;
  out.name = sides.front().prompt.name;
  out.tokens = std::ssize(sides.front().prompt.tokens);
  for (const Side& side : sides) {
    out.kept.push_back(std::ssize(side.prompt.positions));
    if (side.prompt.name != out.name) out.called += (out.called.empty() ? "" : ", ") + side.name + ": " + side.prompt.name;
  }
  out.alignment = align(sides, options.sites);
  out.threshold = default_threshold(rounding, rounding, out.tokens);
  if (options.floor) out.threshold = {*options.floor, kGrowth, "as given", {}};
  out.threshold.growth = options.growth;
  const bool same_tokens = std::all_of(sides.begin(), sides.end(),
                                       [&](const Side& side) { return side.prompt.tokens == sides.front().prompt.tokens; });
  if (out.alignment.positions.empty() || !same_tokens) return out;
  for (const std::string& site : out.alignment.sites) compare_site(site, sides, options, out);
  out.growth = judge_growth(out.errors, out.threshold);
  out.greedy = greedy_diff(sides[0].prompt, sides[1].prompt);
  return out;
}

std::vector<std::string> wanted_prompts(const TraceFile& a, const DiffOptions& options) {
  using Names = std::vector<std::string>;
  return chosen_prompts(a, options.prompt.empty() ? Names{} : Names{options.prompt});
}

}  // namespace

std::vector<std::size_t> PromptDiff::divergences() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < growth.size(); ++i) {
    if (growth[i].diverges) out.push_back(i);
  }
  return out;
}

std::int64_t PromptDiff::below() const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < against.size(); ++i) count += errors[i].rms <= against[i].rms ? 1 : 0;
  return count;
}

bool TraceDiff::aligned() const {
  return std::all_of(prompts.begin(), prompts.end(), [](const PromptDiff& one) { return one.aligned(); });
}

std::vector<const PromptDiff*> TraceDiff::diverged() const {
  std::vector<const PromptDiff*> out;
  for (const PromptDiff& one : prompts) {
    if (!one.divergences().empty()) out.push_back(&one);
  }
  return out;
}

TraceDiff compare_traces(const TraceFile& a, const TraceFile& b, const TraceFile* c, const DiffOptions& options) {
  std::vector<const TraceFile*> files{&a, &b};
  if (c != nullptr) files.push_back(c);
  TraceDiff out;
  for (std::size_t i = 0; i < files.size(); ++i) out.files.push_back(head_of(*files[i], kLetters[i]));
  out.notes = head_notes(out.files);
  const Rounding of_a = rounding_of(a);
  const Rounding of_b = rounding_of(b);
  out.rounding = {std::max(of_a.activations, of_b.activations), std::max(of_a.sums, of_b.sums), of_a.codes && of_b.codes};
  std::vector<std::vector<std::string>> used(files.size());
  for (const std::string& name : wanted_prompts(a, options)) {
    std::vector<Side> sides{{"A", &a, a.prompt(name)}};
    for (std::size_t i = 1; i < files.size(); ++i) {
      const auto other = matching_prompt(*files[i], sides.front().prompt);
      if (!other) {
        out.notes.push_back(fmt::format("prompt {} is not compared: {} has none of its name or tokens", name, kLetters[i]));
        break;
      }
      sides.push_back({kLetters[i], files[i], files[i]->prompt(*other)});
    }
    if (sides.size() < files.size()) continue;
    for (std::size_t i = 1; i < files.size(); ++i) used[i].push_back(sides[i].prompt.name);
    out.prompts.push_back(compare_prompt(sides, options, out.rounding));
  }
  if (out.prompts.empty()) {
    throw std::invalid_argument(fmt::format("{}: no prompt of its own, by name or tokens, is in the others", a.path().string()));
  }
  for (std::size_t i = 1; i < files.size() && options.prompt.empty(); ++i) {
    for (const std::string& name : files[i]->prompts()) {
      if (std::find(used[i].begin(), used[i].end(), name) != used[i].end()) continue;
      out.notes.push_back(fmt::format("prompt {} is not compared: it is in {} alone or not in all", name, kLetters[i]));
    }
  }
  return out;
}

}  // namespace assay::diff
