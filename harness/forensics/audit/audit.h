// Another engine's trace, site by site: is each what the definition makes of the trace's own inputs?
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/forensics/audit/allowed.h"
#include "harness/forensics/audit/judge.h"
#include "harness/reports/style.h"

namespace assay {

struct AuditRequest {
  const ModelFile* model = nullptr;
  const TraceFile* trace = nullptr;
  std::string recipe;                                     // empty: what the trace's head names
  std::vector<std::string> prompts;                       // empty: all
  std::vector<SiteWiring> wiring;                         // the definition's, or a plan's
  std::vector<Allowance> allowed = {};                    // deviations that are known
  int threads = 1;                                        // the result does not depend on it
  std::function<void(const std::string&)> progress = {};  // how far it is, in words
};

// The most memory that an audit takes, in bytes: the model's file as far as it is read; rows of the trace that are kept; weights that are
// decoded at a time; and the widest site, with its inputs.
struct AuditMemory {
  std::int64_t model = 0;
  std::int64_t trace = 0;
  std::int64_t weights = 0;
  std::int64_t site = 0;
  std::int64_t sum() const { return model + trace + weights + site; }
};

struct PromptAudit {
  std::string prompt;
  std::int64_t rows = 0;
  std::vector<Judgement> sites;  // in execution order
};

struct AuditResult {
  std::string recipe;
  AuditMemory memory;
  std::vector<PromptAudit> prompts;
  std::vector<Allowance> unneeded;  // allowed, and nothing was wrong there
  std::int64_t count(SiteVerdict verdict) const;
  // Nothing judged is no pass.
  bool passed() const { return count(SiteVerdict::wrong) == 0 && count(SiteVerdict::right) > 0; }
};

// Throws what the trace's reader throws, and std::invalid_argument for an unknown prompt or recipe.
AuditResult audit(const AuditRequest& request);

AuditMemory audit_memory(const AuditRequest& request);

std::string audit_text(const AuditResult& result, const Style& style);
nlohmann::ordered_json audit_json(const AuditResult& result);

}  // namespace assay
