// An engine with the kernels of the user's choice at its sites: variants of ours by ISA, references, and plugins' kernels, which run
// in this process.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "engine/kv/mapping.h"
#include "engine/run/engine.h"
#include "harness/cli/model_options.h"
#include "harness/interop/plugin/loader.h"

namespace assay::cli {

class ChosenEngine {
 public:
  // Loads the plugins, makes the plan, with projections fused to their quantisation where a plugin's kernel stands for both, and the
  // engine, and puts --kernel's choices into effect in their order. With plugins standard error's first line says which run here.
  // Throws std::invalid_argument for an unknown variant or kernel, one that this CPU lacks, a glob that meets no site, and a
  // plugin's kernel on a glob that meets steps which it cannot run: the message lists them.
  ChosenEngine(const ModelFile& model, const ModelOptions& options, const EngineOptions& settings);
  ChosenEngine(ChosenEngine&&) = default;

  Engine* get() const { return engine_.get(); }
  Engine& operator*() const { return *engine_; }
  Engine* operator->() const { return engine_.get(); }

 private:
  struct Choice;

  void load_plugins(const ModelOptions& options);
  Choice parse(const std::string& text) const;
  std::vector<std::string> met_sites(const Choice& choice, const Plan& plan) const;
  void check_all_fit(const Choice& choice, const Plan& plan, const std::vector<std::string>& sites) const;
  void apply(const Choice& choice);
  Chosen chosen(const Choice& choice, std::size_t step, const Op& op);
  const void* packed_weight(const AssayPluginKernel& kernel, std::size_t step);

  std::vector<LoadedPlugin> plugins_;
  std::list<std::string> names_;  // "ggml:mul_mat_q4_k", which the engine points to
  std::list<Mapping> packed_;     // weights in kernels' own layouts
  std::unique_ptr<Engine> engine_;
};

// As `settings` ask for it, which engine_options() gives and a command may change; its load shows on one line of a terminal's standard
// error. Throws as ChosenEngine.
ChosenEngine load_engine(const ModelFile& model, const ModelOptions& options, const EngineOptions& settings);

// The same, with room for the logits of every token.
ChosenEngine load_engine_for_logits(const ModelFile& model, const ModelOptions& options);

}  // namespace assay::cli
