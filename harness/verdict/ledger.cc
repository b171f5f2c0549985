#include "harness/verdict/ledger.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "golden/read_file.h"

namespace assay {

namespace {

constexpr int kLedgerSchema = 1;

// A diff shows what moved, not the last places of fp64.
double four_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3e", value);
  return std::strtod(text.data(), nullptr);
}

}  // namespace

bool is_kept_margin(double margin, double kept) {
  constexpr double kHalfADigit = 5e-4;
  return std::fabs(margin - kept) <= kHalfADigit * std::fabs(margin) + kMarginRounding;
}

Ledger::Ledger(std::filesystem::path path) : path_(std::move(path)) {
  const std::optional<std::string> text = read_file_if_any(path_);
  if (!text) return;
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
    if (json.at("schema") != kLedgerSchema) throw std::runtime_error(path_.string() + ": schema is not 1");
    json.at("digests").get_to(digests_);
    if (json.contains("margins")) json.at("margins").get_to(margins_);
    for (const auto& entry : json.at("accepted")) {
      acceptances_.push_back({entry.at("op"), entry.at("who"), entry.at("date"), entry.at("why"), entry.at("cases")});
    }
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(path_.string() + ": " + error.what());
  }
}

std::optional<std::string> Ledger::digest(const std::string& op, const std::string& case_name) const {
  const auto cases = digests_.find(op);
  if (cases == digests_.end()) return std::nullopt;
  const auto entry = cases->second.find(case_name);
  return entry == cases->second.end() ? std::nullopt : std::optional(entry->second);
}

std::optional<double> Ledger::margin(const std::string& op, const std::string& case_name) const {
  const auto cases = margins_.find(op);
  if (cases == margins_.end()) return std::nullopt;
  const auto entry = cases->second.find(case_name);
  if (entry != cases->second.end()) return entry->second;
  return digest(op, case_name) ? std::optional(0.0) : std::nullopt;
}

std::vector<std::string> Ledger::accept(const std::string& op, const std::map<std::string, std::string>& digests,
                                        const std::map<std::string, double>& margins, const std::string& who,
                                        const std::string& date, const std::string& why) {
  std::vector<std::string> changed;
  for (const auto& [name, value] : digests) {
    const auto kept = margin(op, name);
    const auto now = margins.find(name);
    const bool moved = kept && !is_kept_margin(now == margins.end() ? 0 : now->second, *kept);
    if (moved || digest(op, name) != value) changed.push_back(name);
  }
  for (const auto& [name, value] : digests_[op]) {
    if (!digests.contains(name)) changed.push_back(name);
  }
  digests_[op] = digests;
  margins_[op].clear();
  for (const auto& [name, value] : margins) {
    if (value > 0) margins_[op][name] = four_digits(value);
  }
  if (!changed.empty()) acceptances_.push_back({op, who, date, why, changed});
  return changed;
}

void Ledger::save(AtomicFile& file) const {
  nlohmann::ordered_json json;
  json["schema"] = kLedgerSchema;
  json["accepted"] = nlohmann::ordered_json::array();
  for (const Acceptance& a : acceptances_) {
    json["accepted"].push_back({{"op", a.op}, {"who", a.who}, {"date", a.date}, {"why", a.why}, {"cases", a.cases}});
  }
  json["digests"] = digests_;
  json["margins"] = margins_;
  file.write_text(json.dump(1) + "\n");
  file.commit();
}

void Ledger::save() const {
  AtomicFile file(path_, {}, Replaces::its_input);
  save(file);
}

}  // namespace assay
