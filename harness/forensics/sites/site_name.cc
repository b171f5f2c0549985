#include "harness/forensics/sites/site_name.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace assay {
namespace {

struct Wiring {
  std::string_view op;
  std::string_view kind;
  std::array<std::string_view, 3> inputs;  // ops of the same layer; "stream": what the layer before left
};

constexpr std::string_view kStream = "stream";

constexpr std::array<Wiring, 17> kLayer{{{"attn_norm", "norm", {kStream}},
                                         {"q_proj", "projection", {"attn_norm"}},
                                         {"k_proj", "projection", {"attn_norm"}},
                                         {"v_proj", "projection", {"attn_norm"}},
                                         {"q_norm", "norm", {"q_proj"}},
                                         {"k_norm", "norm", {"k_proj"}},
                                         {"q_rope", "rope", {"q_norm"}},
                                         {"k_rope", "rope", {"k_norm"}},
                                         {"attn", "attention", {"q_rope", "k_rope", "v_proj"}},
                                         {"o_proj", "projection", {"attn"}},
                                         {"attn_residual", "residual", {kStream, "o_proj"}},
                                         {"ffn_norm", "norm", {"attn_residual"}},
                                         {"gate_proj", "projection", {"ffn_norm"}},
                                         {"up_proj", "projection", {"ffn_norm"}},
                                         {"swiglu", "activation", {"gate_proj", "up_proj"}},
                                         {"down_proj", "projection", {"swiglu"}},
                                         {"ffn_residual", "residual", {"attn_residual", "down_proj"}}}};

const Wiring* find_wiring(std::string_view op) {
  const auto found = std::find_if(kLayer.begin(), kLayer.end(), [&](const Wiring& one) { return one.op == op; });
  return found == kLayer.end() ? nullptr : &*found;
}

// The residual stream before `layer`.
std::string stream_before(int layer) {
  return layer <= 0 ? "embed" : layer_site(layer - 1, "ffn_residual");
}

}  // namespace

SiteName parse_site(std::string_view site) {
  constexpr std::string_view kPrefix = "layers.";
  const std::size_t dot = site.find('.', kPrefix.size());
  int layer = -1;
  if (!site.starts_with(kPrefix) || dot == std::string_view::npos) return {-1, site};
  const auto [end, error] = std::from_chars(site.data() + kPrefix.size(), site.data() + dot, layer);
  if (error != std::errc() || end != site.data() + dot || layer < 0) return {-1, site};
  return {layer, site.substr(dot + 1)};
}

bool is_own_site(std::string_view site) {
  const std::string_view op = parse_site(site).op;
  return op.starts_with("kv_store") || op.starts_with("rope_table") || op.find(".quant") != std::string_view::npos;
}

std::string_view op_kind(std::string_view op) {
  if (const Wiring* wiring = find_wiring(op)) return wiring->kind;
  if (op == "embed") return "embedding";
  if (op == "final_norm") return "norm";
  return op == "lm_head" ? "logits" : "other";
}

std::vector<std::string_view> layer_ops() {
  std::vector<std::string_view> ops;
  for (const Wiring& wiring : kLayer) ops.push_back(wiring.op);
  return ops;
}

std::string layer_site(int layer, std::string_view op) {
  return fmt::format("layers.{:02}.{}", layer, op);
}

std::vector<std::string> site_inputs(std::string_view site, int last_layer) {
  const SiteName name = parse_site(site);
  if (name.layer < 0) {
    if (name.op == "final_norm") return {stream_before(last_layer + 1)};
    if (name.op == "lm_head") return {"final_norm"};
    return {};
  }
  std::vector<std::string> out;
  const Wiring* wiring = find_wiring(name.op);
  if (wiring == nullptr) return out;
  for (const std::string_view input : wiring->inputs) {
    if (input.empty()) continue;
    out.push_back(input == kStream ? stream_before(name.layer) : layer_site(name.layer, input));
  }
  return out;
}

bool matches_glob(std::string_view glob, std::string_view text) {
  return fnmatch(std::string(glob).c_str(), std::string(text).c_str(), 0) == 0;
}

}  // namespace assay
