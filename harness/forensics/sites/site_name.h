// What a site's name says: layer, op, and the sites whose values it is computed from (docs/design.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct SiteName {
  int layer = -1;       // -1: none
  std::string_view op;  // "q_proj" of "layers.07.q_proj"; a name without layer as it is; lives as long as the name
};

SiteName parse_site(std::string_view site);

// kv_store, rope_table and the quantisations: steps that the traces of Assay alone have.
bool is_own_site(std::string_view site);

// Kinds of ops, for those who look: norm, projection, rope, attention, residual, activation, embedding, logits, other.
std::string_view op_kind(std::string_view op);

// The ops of a layer that every trace has, in execution order.
std::vector<std::string_view> layer_ops();

// "layers.07.q_proj".
std::string layer_site(int layer, std::string_view op);

// The sites that `site` reads, by Qwen3's wiring, in the order of its formula; `last_layer` is what final_norm follows. Empty for
// embed and for names that the wiring does not know.
std::vector<std::string> site_inputs(std::string_view site, int last_layer);

// `glob` with * for any run of characters and ? for one.
bool matches_glob(std::string_view glob, std::string_view text);

}  // namespace assay
