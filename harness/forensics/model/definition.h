// What a model computes, site by site. It is written from the architecture's description, not from the engine's plan, which is held
// against it. An architecture is one file here, and a row in definition.cc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/config.h"
#include "engine/model/roles.h"

namespace assay {

// What a site computes. Of rope_table, quantize and kv_store the engine alone has sites: no other engine's trace holds them.
enum class Formula : std::uint8_t { rope_table, embed, rms_norm, quantize, linear, rope, kv_store, attention, add, swiglu };
std::string_view formula_name(Formula formula) noexcept;
Formula formula_from_name(std::string_view name);  // throws std::invalid_argument
bool is_own(Formula formula) noexcept;

// A node of llama.cpp's graph: its name, which "-N" follows in a layer, and op. No name: the node that the site's weight goes into.
struct GraphNode {
  std::string_view name;
  std::string_view op;
};

struct SiteDefinition {
  std::string_view name;  // "q_proj" of "layers.07.q_proj"
  Formula formula;
  std::array<std::string_view, 3> inputs;      // names of its layer, in the formula's order; kStream: what was left before it
  std::int64_t (*width)(const ModelConfig&);   // of a row
  std::int64_t ModelConfig::*heads = nullptr;  // how a row is cut; null: it is not
  std::optional<Role> weight = std::nullopt;
  std::array<GraphNode, 2> llama = {};
};
inline constexpr std::string_view kStream = "stream";

// Sites in execution order. The last ones of `before` and `layer` are the residual stream.
struct Architecture {
  std::string_view name;  // as GGUF has it
  std::span<const SiteDefinition> before;
  std::span<const SiteDefinition> layer;
  std::span<const SiteDefinition> after;
};
extern const Architecture kQwen3;

std::span<const Architecture* const> architectures();

// The site whose values the engine's quantisation "S.quant" or "S.quant_q8_k" brings into blocks; nothing for other sites.
std::optional<std::string_view> unquantised(std::string_view site);

// For who looks at a trace, which does not say its architecture.

bool is_own_site(std::string_view site);
// Kinds of sites, by their name without layer: norm, projection, rope, attention, residual, activation, embedding, logits, other.
std::string_view op_kind(std::string_view name);
// Whether a row of the site is [head, head_dim].
bool has_heads(std::string_view site);
// The sites that `site` reads, in the order of its formula; `last_layer` is what comes before those after the layers. Empty for embed,
// the engine's own sites and unknown ones.
std::vector<std::string> site_inputs(std::string_view site, int last_layer);

}  // namespace assay
