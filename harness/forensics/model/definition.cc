#include "harness/forensics/model/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/forensics/model/wiring.h"
#include "harness/forensics/sites/site_name.h"

namespace assay {
namespace {

constexpr const Architecture* kArchitectures[] = {&kQwen3};

struct FormulaNames {
  std::string_view name;
  std::string_view kind;
};

// In the order of Formula.
constexpr FormulaNames kNames[] = {
    {"rope_table", "other"}, {"embed", "embedding"}, {"rms_norm", "norm"},       {"quantize", "other"}, {"linear", "projection"},
    {"rope", "rope"},        {"kv_store", "other"},  {"attention", "attention"}, {"add", "residual"},   {"swiglu", "activation"}};

// A site of an architecture, and its layer; -1: none.
struct Place {
  const Architecture* architecture = nullptr;
  const SiteDefinition* site = nullptr;
  int layer = -1;
};

std::optional<Place> find_place(const Architecture& architecture, const SiteName& site) {
  const auto all =
      site.layer >= 0 ? std::array{architecture.layer, architecture.layer} : std::array{architecture.before, architecture.after};
  for (const std::span<const SiteDefinition> some : all) {
    const auto found = std::ranges::find(some, site.op, &SiteDefinition::name);
    if (found != some.end()) return Place{&architecture, &*found, site.layer};
  }
  return std::nullopt;
}

std::optional<Place> find_place(const SiteName& site) {
  for (const Architecture* const one : kArchitectures) {
    if (const auto found = find_place(*one, site)) return found;
  }
  return std::nullopt;
}

std::string stream_into(const Architecture& architecture, int layer) {
  return layer == 0 ? std::string(architecture.before.back().name) : layer_site(layer - 1, architecture.layer.back().name);
}

std::vector<std::string> inputs_of(const Place& place, int last_layer) {
  const std::string stream = stream_into(*place.architecture, place.layer >= 0 ? place.layer : last_layer + 1);
  std::vector<std::string> out;
  for (const std::string_view input : place.site->inputs) {
    if (input.empty()) continue;
    out.push_back(input == kStream ? stream : place.layer < 0 ? std::string(input) : layer_site(place.layer, input));
  }
  return out;
}

const Architecture& architecture_of(const ModelConfig& config) {
  const auto* const found = std::ranges::find(kArchitectures, config.architecture, &Architecture::name);
  if (found == std::end(kArchitectures)) throw std::invalid_argument("no definition of " + config.architecture);
  return **found;
}

std::int64_t width_of(const Architecture& architecture, const std::string& site, const ModelConfig& config) {
  return find_place(architecture, parse_site(site))->site->width(config);
}

SiteWiring wiring_at(const Place& place, const ModelConfig& config) {
  const SiteDefinition& site = *place.site;
  SiteWiring wiring;
  wiring.site = place.layer < 0 ? std::string(site.name) : layer_site(place.layer, site.name);
  wiring.formula = site.formula;
  wiring.role = site.weight;
  wiring.layer = wiring.weight_layer = place.layer;
  if (site.heads != nullptr) wiring.heads = config.*site.heads;
  if (site.formula == Formula::attention) wiring.kv_heads = config.kv_heads;
  for (const std::string& input : inputs_of(place, static_cast<int>(config.layers) - 1)) {
    wiring.inputs.push_back({{input, 0, width_of(*place.architecture, input, config)}});
  }
  return wiring;
}

}  // namespace

std::string_view formula_name(Formula formula) noexcept {
  return kNames[static_cast<std::size_t>(formula)].name;
}

Formula formula_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name, &FormulaNames::name);
  if (found == std::end(kNames)) throw std::invalid_argument(fmt::format("no formula is called {}", name));
  return static_cast<Formula>(found - std::begin(kNames));
}

bool is_own(Formula formula) noexcept {
  return formula == Formula::rope_table || formula == Formula::quantize || formula == Formula::kv_store;
}

std::span<const Architecture* const> architectures() {
  return kArchitectures;
}

std::optional<std::string_view> unquantised(std::string_view site) {
  const std::size_t suffix = site.find(".quant");
  return suffix == std::string_view::npos ? std::nullopt : std::optional(site.substr(0, suffix));
}

bool is_own_site(std::string_view site) {
  if (unquantised(site)) return true;
  const auto place = find_place(parse_site(site));
  return place && is_own(place->site->formula);
}

std::string_view op_kind(std::string_view name) {
  for (const int layer : {-1, 0}) {
    const auto place = find_place({layer, name});
    if (!place) continue;
    return place->site->weight == Role::lm_head ? "logits" : kNames[static_cast<std::size_t>(place->site->formula)].kind;
  }
  return "other";
}

bool has_heads(std::string_view site) {
  const auto place = find_place(parse_site(site));
  return place && place->site->heads != nullptr && place->site->formula != Formula::attention;  // which puts them together
}

std::vector<std::string> site_inputs(std::string_view site, int last_layer) {
  const auto place = find_place(parse_site(site));
  if (!place || is_own(place->site->formula)) return {};
  return inputs_of(*place, last_layer);
}

std::vector<SiteWiring> all_sites_wiring(const ModelConfig& config) {
  const Architecture& architecture = architecture_of(config);
  std::vector<SiteWiring> sites;
  const auto add = [&](std::span<const SiteDefinition> some, int layer) {
    for (const SiteDefinition& site : some) sites.push_back(wiring_at({&architecture, &site, layer}, config));
  };
  add(architecture.before, -1);
  for (int layer = 0; layer < config.layers; ++layer) add(architecture.layer, layer);
  add(architecture.after, -1);
  return sites;
}

std::vector<SiteWiring> definition_wiring(const ModelConfig& config) {
  std::vector<SiteWiring> sites = all_sites_wiring(config);
  std::erase_if(sites, [](const SiteWiring& one) { return is_own(one.formula); });
  return sites;
}

std::string stream_before(const ModelConfig& config, int layer) {
  return stream_into(architecture_of(config), layer);
}

std::optional<SiteWiring> wiring_of_site(const ModelConfig& config, std::string_view site) {
  const auto source = unquantised(site);
  const auto place = find_place(architecture_of(config), parse_site(source.value_or(site)));
  if (!place || place->layer >= config.layers) return std::nullopt;
  SiteWiring wiring = wiring_at(*place, config);
  if (!source) return wiring;
  SiteWiring quantisation;
  quantisation.site = site;
  quantisation.formula = Formula::quantize;
  quantisation.layer = place->layer;
  quantisation.inputs = {{{wiring.site, 0, place->site->width(config)}}};
  return quantisation;
}

}  // namespace assay
