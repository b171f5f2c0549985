// Each site of a run of ours beside a golden trace: what it adds by itself, what it passes on, and whether it is wired as the golden's
// engine is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/engine.h"
#include "harness/forensics/attribute/local_probe.h"
#include "harness/forensics/audit/judge.h"
#include "harness/reports/style.h"

namespace assay {

enum class Blame : std::uint8_t {
  clean,     // within its op's bound on its own inputs, and as near to the golden as rounding at this site explains
  inherits,  // within its bound, but its inputs are off, and so is what follows from them
  not_run,   // a step before it refused
  guilty,    // the kernel is further from the truth than its contract allows
  miswired,  // the plan, a weight or a recipe: the golden's own inputs do not give the golden's output
};
const char* blame_name(Blame blame) noexcept;

struct SiteAttribution {
  std::string site;
  std::string op;
  std::string variant;
  Blame blame = Blame::clean;
  LocalError local;
  Judgement golden;  // the golden's inputs against the golden's output; may be not judged
  bool inherits = false;
  bool miswired = false;                 // the plan's wiring is not the definition's
  std::map<std::string, double> inputs;  // the sites that feed it, as far as compared, with their `total`
  bool compared = false;                 // with the golden's rows of the site; relative RMS errors:
  double total = 0;                      // ours - golden
  double inherited = 0;                  // reference on our inputs - golden
  double own = 0;                        // ours - reference on our inputs
  double amplification = 0;              // inherited over the largest total of its inputs; 0 where these have no error
  std::vector<std::string> remarks;
};

struct PromptAttribution {
  std::string prompt;
  std::int64_t tokens = 0;
  std::int64_t rows = 0;
  std::vector<SiteAttribution> sites;  // in the plan's order
  std::string stopped;                 // not empty: a step refused, and the sites after it did not run
};

struct AttributeRequest {
  const ModelFile* model = nullptr;
  Engine* engine = nullptr;  // of that model, with room for all logits; kernels as the user chose them
  const TraceFile* golden = nullptr;
  std::string recipe;
  std::vector<std::string> prompts;                       // empty: all
  std::function<void(const std::string&)> progress = {};  // how far it is, in words
};

struct Attribution {
  std::string recipe;
  std::vector<PromptAttribution> prompts;
  std::int64_t count(Blame blame) const;
  std::int64_t not_judged() const;  // sites whose golden side could not be judged
  struct Fault {
    const PromptAttribution* prompt;
    const SiteAttribution* site;
  };
  // The first guilty or miswired site; nothing if there is none.
  std::optional<Fault> first_fault() const;
  bool passed() const;
};

Attribution attribute(const AttributeRequest& request);

// What a report says of where things come from: paths as the user gave them.
struct AttributionNames {
  std::string model;
  std::string golden;
  std::string kernels = {};  // the options that put kernels at sites, " --plugin X --kernel 'SITE=KERNEL'"
  std::string plugins = {};  // of these those that name plugins
};
// The commands with which the op of a guilty site is checked on exactly the inputs that it had.
std::string reproduce_command(const Attribution::Fault& fault, const AttributionNames& names);

std::string attribution_text(const Attribution& result, bool all, const AttributionNames& names, const Style& style);
nlohmann::ordered_json attribution_json(const Attribution& result);

}  // namespace assay
