// What the tests of attribute, bisect and audit have in common: models, goldens, runs.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/run/engine.h"
#include "golden/trace.h"
#include "harness/forensics/attribute/attribute.h"

namespace assay {

// A committed trace, "kjv-hf-f32".
std::filesystem::path golden_trace(const std::string& name);
// kjv in Hugging Face's folder, or a GGUF file that is committed.
std::filesystem::path golden_model(const std::string& name);

// With room for all logits; `chunk` 1: every pass is one of decode.
EngineOptions traced_options(std::int64_t chunk = 512, int threads = 1);
std::unique_ptr<Engine> traced_engine(const ModelFile& model, std::int64_t chunk = 512, int threads = 1);

// The sites with this verdict in any of the prompts.
std::set<std::string> sites_that_are(Blame blame, const Attribution& result);
std::string all_text(const Attribution& result);

using Sites = std::set<std::string>;

}  // namespace assay
