#include "harness/cli/inspect_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "golden/printable.h"
#include "harness/forensics/trace/model_digest.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

// Weights of a role, or a trace's sites, that differ by their layer alone.
struct Alike {
  std::string name;  // "layers.*.q_proj"
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

std::string without_layer(std::string name) {
  constexpr std::string_view kLayers = "layers.";
  if (!name.starts_with(kLayers)) return name;
  const std::size_t end = name.find('.', kLayers.size());
  return name.replace(kLayers.size(), end - kLayers.size(), "*");
}

void add(std::vector<Alike>& all, Alike one) {
  const auto known = std::ranges::find_if(
      all, [&](const Alike& other) { return other.name == one.name && other.dtype == one.dtype && other.shape == one.shape; });
  if (known == all.end()) {
    all.push_back(std::move(one));
    return;
  }
  known->count += one.count;
  known->bytes += one.bytes;
}

std::string table_of(const char* head, const std::vector<Alike>& all, const Style& style) {
  Table table({head, "type", "shape", ">each", ">bytes"});
  for (const Alike& one : all) {
    table.add({one.name, one.dtype, fmt::format("[{}]", fmt::join(one.shape, ", ")), std::to_string(one.count),
               std::to_string(one.bytes)});
  }
  return table.render(style);
}

nlohmann::ordered_json json_of(const std::vector<Alike>& all) {
  auto json = nlohmann::ordered_json::array();
  for (const Alike& one : all)
    json.push_back({{"name", one.name}, {"dtype", one.dtype}, {"shape", one.shape}, {"count", one.count}, {"bytes", one.bytes}});
  return json;
}

// Printed as it stands, "name  value" a line.
using Facts = std::vector<std::pair<std::string, nlohmann::ordered_json>>;

void print(const Facts& facts) {
  for (const auto& [name, value] : facts)
    fmt::print("{:<14} {}\n", name, value.is_string() ? printable(value.get<std::string>()) : value.dump());
  fmt::print("\n");
}

nlohmann::ordered_json head_json(const std::string& file, const Facts& facts) {
  nlohmann::ordered_json json = environment_json();
  json["file"] = file;
  for (const auto& [name, value] : facts) json[name] = value;
  return json;
}

}  // namespace

void inspect_model(const ModelFile& model, const std::string& path, const Common& common) {
  const ModelConfig& config = model.config();
  std::vector<Alike> weights;
  std::int64_t numbers = 0;
  for (const Weight& one : model.weights().all()) {
    numbers += one.rows * one.cols;
    add(weights, {without_layer(one.site), std::string(dtype_name(one.dtype)), {one.rows, one.cols}, 1, std::ssize(one.bytes)});
  }
  const Facts facts{{"model", config.name},
                    {"architecture", config.architecture},
                    {"format", model.gguf() != nullptr ? "GGUF" : "Hugging Face"},
                    {"layers", config.layers},
                    {"hidden", config.hidden},
                    {"heads", config.heads},
                    {"kv_heads", config.kv_heads},
                    {"head_dim", config.head_dim},
                    {"ffn", config.ffn},
                    {"vocab", config.vocab},
                    {"max_positions", config.max_positions},
                    {"rms_eps", config.rms_eps},
                    {"rope_theta", config.rope_theta},
                    {"tied", config.tied},
                    {"weights", numbers},
                    {"model_sha256", model_digest(path)}};
  if (common.json) {
    nlohmann::ordered_json json = head_json(path, facts);
    json["tensors"] = json_of(weights);
    fmt::print("{}", json_text(json));
    return;
  }
  print(facts);
  fmt::print("{}", table_of("weight", weights, common.style()));
}

void inspect_trace(const TraceFile& trace, const Common& common) {
  Facts facts;
  for (const char* name : {"model", "weights", "model_sha256", "recipe", "rope", "dtype", "generator", "source", "licence"})
    facts.emplace_back(name, trace.head(name));
  facts.emplace_back("generator_version", trace.head("version"));  // "version" is ours
  Table prompts({"prompt", ">tokens", ">rows kept", ">sites", ">greedy", "text"});
  nlohmann::ordered_json json = head_json(trace.path().string(), facts);
  std::vector<Alike> sites;
  for (const std::string& name : trace.prompts()) {
    const TracePrompt prompt = trace.prompt(name);
    const std::int64_t greedy = prompt.greedy ? std::ssize(prompt.greedy->tokens) : 0;
    constexpr std::size_t kShown = 48;
    const std::string text = prompt.text.size() > kShown ? prompt.text.substr(0, kShown) + "..." : prompt.text;
    prompts.add({printable(name), std::to_string(prompt.tokens.size()), std::to_string(prompt.positions.size()),
                 std::to_string(prompt.sites.size()), std::to_string(greedy), printable(text)});
    json["prompts"].push_back(
        {{"name", name}, {"text", prompt.text}, {"tokens", prompt.tokens}, {"positions", prompt.positions}, {"greedy", greedy}});
    for (const std::string& site : prompt.sites) {
      const Array array = trace.describe(prompt, site);
      Alike one{without_layer(site), std::string(dtype_name(array.dtype)), array.shape, 1, 0};
      if (!one.shape.empty()) one.shape.erase(one.shape.begin());  // of a row
      one.bytes = array.elements() * static_cast<std::int64_t>(dtype_size(array.dtype));
      add(sites, std::move(one));
    }
  }
  json["sites"] = json_of(sites);
  if (common.json) {
    fmt::print("{}", json_text(json));
    return;
  }
  print(facts);
  fmt::print("{}\n{}", prompts.render(common.style()), table_of("site, a row", sites, common.style()));
}

}  // namespace assay::cli
