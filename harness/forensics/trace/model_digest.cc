#include "harness/forensics/trace/model_digest.h"

#include <fmt/format.h>

#include "golden/sha256.h"

namespace assay {

std::string model_digest(const std::filesystem::path& model) {
  const bool folder = std::filesystem::is_directory(model);
  const std::filesystem::path weights = folder ? model / "model.safetensors" : model;
  return sha256_file(std::filesystem::exists(weights) ? weights : model / "model.safetensors.index.json");
}

std::string note_of_other_model(const std::filesystem::path& model, const TraceFile& trace) {
  const std::string& known = trace.head("model_sha256");
  if (known.size() != 64) return {};  // "unknown"
  const std::string here = model_digest(model);
  if (known == here) return {};
  return fmt::format("note: {} is a trace of another model's file ({}, {}, sha256 {}...; {} has {}...)\n", trace.path().string(),
                     trace.head("model"), trace.head("weights"), known.substr(0, 12), model.string(), here.substr(0, 12));
}

}  // namespace assay
