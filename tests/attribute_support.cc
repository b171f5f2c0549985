#include "tests/attribute_support.h"

#include "harness/verdict/suite.h"

namespace assay {

std::filesystem::path golden_trace(const std::string& name) {
  return own_golden() / "traces" / (name + ".h5");
}

std::filesystem::path golden_model(const std::string& name) {
  return own_golden() / "models" / name;
}

EngineOptions traced_options(std::int64_t chunk, int threads) {
  EngineOptions options;
  options.plan.all_logits = true;
  options.plan.chunk = chunk;
  options.threads = threads;
  return options;
}

std::unique_ptr<Engine> traced_engine(const ModelFile& model, std::int64_t chunk, int threads) {
  return std::make_unique<Engine>(model, traced_options(chunk, threads));
}

std::set<std::string> sites_that_are(Blame blame, const Attribution& result) {
  std::set<std::string> sites;
  for (const PromptAttribution& prompt : result.prompts) {
    for (const SiteAttribution& one : prompt.sites) {
      if (one.blame == blame) sites.insert(one.site);
    }
  }
  return sites;
}

std::string all_text(const Attribution& result) {
  return attribution_text(result, false, {"MODEL", "GOLDEN"}, Style::plain());
}

}  // namespace assay
