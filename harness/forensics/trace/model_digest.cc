#include "harness/forensics/trace/model_digest.h"

#include <fmt/format.h>

#include "golden/sha256.h"

namespace assay {

std::string model_digest(const std::filesystem::path& model) {
  const bool folder = std::filesystem::is_directory(model);
  const std::filesystem::path weights = folder ? model / "model.safetensors" : model;
  return sha256_file(std::filesystem::exists(weights) ? weights : model / "model.safetensors.index.json");
}

namespace {

constexpr std::size_t kDigest = 64;  // letters; else "unknown"

std::string what_it_ran(const TraceFile& trace) {
  return fmt::format("{}, {}, sha256 {}...", trace.head("model"), trace.head("weights"),
                     trace.head("model_sha256").substr(0, 12));
}

}  // namespace

std::string note_of_other_model(const std::filesystem::path& model, const TraceFile& trace) {
  const std::string& known = trace.head("model_sha256");
  if (known.size() != kDigest) return {};
  const std::string here = model_digest(model);
  if (known == here) return {};
  return fmt::format("note: {} is a trace of another model's file ({}; {} has {}...)\n", trace.path().string(),
                     what_it_ran(trace), model.string(), here.substr(0, 12));
}

std::string note_of_other_model(const TraceFile& ours, const TraceFile& theirs) {
  const std::string& a = ours.head("model_sha256");
  const std::string& b = theirs.head("model_sha256");
  if (a.size() != kDigest || b.size() != kDigest || a == b) return {};
  return fmt::format("note: {} and {} are traces of two models' files ({}; {})\n", ours.path().string(), theirs.path().string(),
                     what_it_ran(ours), what_it_ran(theirs));
}

}  // namespace assay
