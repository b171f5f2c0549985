// Which sites feed a site: by the definition, or as a plan has it. Inputs are pieces of sites' columns, so that a plan that reads
// across a boundary is followed to where its columns really come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/plan.h"
#include "harness/forensics/model/definition.h"

namespace assay {

struct SourcePiece {
  std::string site;
  std::int64_t column = 0;  // within the site's flattened row
  std::int64_t count = 0;
  bool operator==(const SourcePiece&) const = default;
};
using Source = std::vector<SourcePiece>;

struct SiteWiring {
  std::string site;
  Formula formula = Formula::add;
  std::int64_t layer = -1;
  std::optional<Role> role;  // of its weight, if it has one
  std::int64_t weight_layer = -1;
  std::vector<Source> inputs;  // for attention q, k, v
  std::int64_t heads = 1;      // rms_norm, rope, attention: how a row is cut
  std::int64_t kv_heads = 1;   // attention
  std::int64_t window = 0;     // attention: positions that it looks back at, its own included; 0: all
  std::string fault;           // of a plan: an operand outside its slot
};

// Every site that other engines have too, in execution order.
std::vector<SiteWiring> definition_wiring(const ModelConfig& config);
// With the engine's own, quantisations left out, since the weights' types decide on them.
std::vector<SiteWiring> all_sites_wiring(const ModelConfig& config);
// Of one site, quantisations included; nothing where the definition has no such site.
std::optional<SiteWiring> wiring_of_site(const ModelConfig& config, std::string_view site);
// The site whose values come into the layer.
std::string stream_before(const ModelConfig& config, int layer);

// What a plan's step computes.
Formula formula_of(const Step& step);
// The same of a plan: its steps, quantisation taken for transparent (the recipe says how activations are rounded) and kv_store
// followed to what it stored.
std::vector<SiteWiring> plan_wiring(const Plan& plan);

// In what a plan's site is not the definition's, in words; nothing where they agree.
std::vector<std::string> wiring_differences(const SiteWiring& plan, const SiteWiring& definition);

// "layers.02.q_norm", or with pieces "layers.02.q_proj[0..127] + ...".
std::string source_text(const Source& source);

}  // namespace assay
