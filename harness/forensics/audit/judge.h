// One site of a trace against the definition on the trace's own inputs, and, where it is wrong, what would make it right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/model_file.h"
#include "harness/forensics/audit/formula.h"
#include "harness/forensics/audit/recipe.h"
#include "harness/forensics/audit/trace_rows.h"
#include "harness/forensics/model/wiring.h"

namespace assay {

// allowed: wrong, but known and not by more than was said.
enum class SiteVerdict : std::uint8_t { right, wrong, not_judged, allowed };

struct Judgement {
  std::string site;
  SiteVerdict verdict = SiteVerdict::not_judged;
  std::string why_not;     // not judged; allowed: why
  Excess excess;           // in bounds; above 1 is wrong
  std::int64_t token = 0;  // at the worst place: the position; the trace's value, the definition's, the bound
  double value = 0;
  double truth = 0;
  double bound = 0;
  std::vector<std::string> explanations;  // wrong: changes of the definition with which the site is right
  std::vector<std::string> remarks;       // wrong: where, if it is not everywhere
};

class Judge {
 public:
  // `model`, `recipe` and `team` must outlive the object. `recorded`: the type of the weights that the trace was made with, as its head
  // says; sites whose weight has another type are not judged.
  Judge(const ModelFile& model, const Recipe& recipe, std::string recorded, Team& team);

  // The trace's rows of the wiring's inputs against its rows of the site. `explain`: look for explanations where it is wrong.
  // `bounds` gets those of every output if it is not null; it stays empty where the site is not judged.
  Judgement judge(const SiteWiring& wiring, TraceRows& rows, bool explain, RowMatrix* bounds = nullptr);

 private:
  struct Attempt {
    SiteCall call;
    std::optional<DecodedWeight> weight;
    const Weight* stored = nullptr;
  };

  // Why the site cannot be judged; empty if it can.
  std::string obstacle(const SiteWiring& wiring, TraceRows& rows) const;
  Attempt attempt(const SiteWiring& wiring, TraceRows& rows) const;
  // Which outputs and tokens are wrong, if not all, and which part of the weight makes them.
  std::vector<std::string> where(const SiteWiring& wiring, TraceRows& rows, const Judgement& judgement) const;

  const ModelFile& model_;
  const Recipe& recipe_;
  std::string recorded_;
  Team& team_;
  std::string own_;  // the type of the model's weights, in the same words
};

// What a site is multiplied with: of a tied lm_head the embedding. Only of wirings that have a role.
const Weight& weight_of(const ModelFile& model, const SiteWiring& wiring);

// "bf16", "f16", "Q8_0", "Q4_K_M": what a trace's head calls these weights.
std::string weights_name(const WeightMap& weights);

}  // namespace assay
