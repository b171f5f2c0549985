// A run of ours as a trace: each site's rows go to disk as they come.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/run/engine.h"
#include "golden/trace_writer.h"

namespace assay {

// Which tokens' rows are kept: from .. to, both included; to = -1: to the end.
struct KeptTokens {
  std::int64_t from = 0;
  std::int64_t to = -1;
};
// "3..7", "3..", "..7", "5". Throws std::invalid_argument for anything else.
KeptTokens parse_kept_tokens(const std::string& text);

struct RecordPrompt {
  std::string name;
  std::string text;  // may be empty
  std::vector<std::int32_t> tokens;
};

struct RecordRequest {
  const ModelFile* model = nullptr;
  Engine* engine = nullptr;  // with room for all logits if lm_head is among the sites
  std::filesystem::path model_path;
  std::filesystem::path out;
  std::vector<std::string> globs;  // of sites; empty: all
  KeptTokens kept;
  std::string plan_json;
  std::vector<RecordPrompt> prompts;
  std::function<void(std::int64_t bytes)> told;                         // the values' size, before anything runs
  std::function<void(std::int64_t done, std::int64_t total)> progress;  // bytes of values; may be empty
};

struct Recorded {
  std::int64_t sites = 0;
  std::int64_t value_bytes = 0;
  std::int64_t file_bytes = 0;
  double seconds = 0;
};

// Writes `out`, whole or not at all. Throws std::invalid_argument where no site matches or a prompt has no kept token.
Recorded record_trace(const RecordRequest& request);

}  // namespace assay
