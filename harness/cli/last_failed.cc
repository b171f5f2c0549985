#include "harness/cli/last_failed.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "golden/atomic_file.h"
#include "golden/read_file.h"
#include "golden/sha256.h"

namespace assay {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FailedCases, variants, cases)

}  // namespace assay

namespace assay::cli {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunnerCliOptions, plugins, command, limit_seconds, isolation, allow_fork, allow_read, declared)
// Without the seed: it stands beside them, since it may be none.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckSelection, ops, isas, case_name, tag, golden, shape, data, checks, variant, ledger,
                                   runner, cases, any_length)

namespace {

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Empty: there is no place to keep anything.
std::filesystem::path state_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  std::filesystem::path state = variable("XDG_STATE_HOME");
  if (state.empty() && !variable("HOME").empty()) state = variable("HOME") / ".local" / "state";
  if (!state.is_absolute()) return {};
  std::error_code gone;
  const std::string folder = std::filesystem::current_path(gone).string();
  if (gone) return {};
  return state / "assay" / fmt::format("failed-{}.json", sha256(as_bytes(folder)).substr(0, 16));
}

void not_kept(const std::string& why) {
  fmt::print(stderr, "assay: what failed is not kept for --failed: {}\n", why);
}

}  // namespace

void keep_failed(CheckSelection selection, const SuiteResult& result) {
  const std::filesystem::path file = state_file();
  if (file.empty()) return;
  std::map<std::string, FailedCases> failed;
  for (const CaseResult& one : result.cases) {
    if (one.verdict == Verdict::pass) continue;
    failed[one.op].variants.insert(one.variant);
    failed[one.op].cases.insert(one.case_name);
  }
  std::error_code none;  // a place that nobody can reach holds nothing to repeat
  std::filesystem::remove(file, none);
  if (failed.empty()) return;
  try {
    std::filesystem::create_directories(file.parent_path());
    nlohmann::json json{{"folder", std::filesystem::current_path().string()}, {"selection", selection}, {"failed", failed}};
    if (selection.seed) json["seed"] = *selection.seed;
    write_file_atomically(file, json.dump(1) + "\n");
  } catch (const std::filesystem::filesystem_error& error) {
    not_kept(error.path1().string() + ": " + error.code().message());
  } catch (const nlohmann::json::exception&) {
    not_kept("a name in it is not UTF-8");
  } catch (const std::exception& error) {
    not_kept(error.what());
  }
}

LastFailed last_failed() {
  const std::filesystem::path file = state_file();
  const std::optional<std::string> text = file.empty() ? std::nullopt : read_file_if_any(file);
  if (!text) throw std::invalid_argument("--failed: no check in this folder failed last; there is nothing to repeat");
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
    LastFailed last{json.at("selection").get<CheckSelection>(), json.at("failed").get<std::map<std::string, FailedCases>>()};
    if (json.contains("seed")) last.selection.seed = json.at("seed").get<std::uint64_t>();
    return last;
  } catch (const nlohmann::json::exception&) {
    throw std::invalid_argument(file.string() + ": is not what `assay check` keeps for --failed; remove it");
  }
}

}  // namespace assay::cli
