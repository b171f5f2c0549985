#include "harness/cli/plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

#include "engine/plan/operand_text.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

std::string bytes_text(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1 << 30) return fmt::format("{:.2f} GiB", value / 0x1p30);
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", value / 0x1p20);
  return fmt::format("{:.1f} KiB", value / 0x1p10);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string ops_text(const Step& step) {
  return step.decode == step.prefill ? step.decode->name : fmt::format("{}, {}", step.decode->name, step.prefill->name);
}

// The site without its layer.
std::string within_layer(const Step& step) {
  return std::string(parse_site(step.site).op);
}

// "layers.00, 03 .. 05" for layers that have the same steps.
std::string layers_text(const std::vector<std::int64_t>& layers) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i;
    while (end + 1 < layers.size() && layers[end + 1] == layers[end] + 1) ++end;
    runs.push_back(end == i ? fmt::format("{:02}", layers[i]) : fmt::format("{:02} .. {:02}", layers[i], layers[end]));
    i = end + 1;
  }
  return fmt::format("layers {}", fmt::join(runs, ", "));
}

// A step's line under a name.
std::vector<std::string> step_line(const Plan& plan, const Step& step, const std::string& name) {
  return {name, ops_text(step), operands_text(plan, step.inputs), outputs_text(plan, step)};
}

// Layers by their lines, in the order in which they first appear.
std::vector<std::vector<std::int64_t>> alike_layers(const Plan& plan) {
  std::map<std::int64_t, std::vector<std::vector<std::string>>> lines;
  for (const Step& step : plan.steps) {
    if (step.layer >= 0) lines[step.layer].push_back(step_line(plan, step, within_layer(step)));
  }
  std::vector<std::vector<std::int64_t>> groups;
  for (const auto& [layer, own] : lines) {
    const auto same = std::ranges::find_if(groups, [&](const auto& group) { return lines[group.front()] == own; });
    if (same == groups.end()) {
      groups.push_back({layer});
    } else {
      same->push_back(layer);
    }
  }
  return groups;
}

std::string steps_text(const Plan& plan, bool all, const Style& style) {
  Table table({"site", "op of decode, of prefill", "from", "to"});
  const auto groups = alike_layers(plan);
  std::int64_t layer = -1;  // of the step before
  for (const Step& step : plan.steps) {
    const bool first = std::exchange(layer, step.layer) != step.layer;
    if (all || step.layer < 0) {
      table.add(step_line(plan, step, step.site));
      continue;
    }
    const auto group = std::ranges::find(groups, step.layer, [](const auto& one) { return one.front(); });
    if (group == groups.end()) continue;
    if (first) table.add({layers_text(*group), "", "", ""});
    table.add(step_line(plan, step, "  " + within_layer(step)));
  }
  return table.render(style);
}

// Weights of a site kind and type in one line.
struct Kind {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

std::vector<Kind> kinds_of(const Region& region) {
  std::vector<Kind> kinds;
  for (const PlacedBuffer& buffer : region.buffers) {
    const std::string name = buffer.name.substr(buffer.name.rfind('.') + 1);
    auto found = std::ranges::find_if(kinds, [&](const Kind& kind) { return kind.name == name && kind.type == buffer.type; });
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {name, buffer.type, buffer.shape, 0, 0});
    ++found->count;
    found->bytes += buffer.bytes;
  }
  return kinds;
}

std::string region_text(const Region& region, bool all, const Style& style) {
  std::string text = fmt::format("{}  {} bytes ({})\n", style.strong(region.name), region.bytes, bytes_text(region.bytes));
  if (!all && region.name == "weights") {
    Table table({"weight", "layout", "shape", ">each", ">bytes"});
    for (const Kind& kind : kinds_of(region)) {
      table.add({kind.name, kind.type, shape_text(kind.shape), fmt::format("{}", kind.count), fmt::format("{}", kind.bytes)});
    }
    return text + table.render(style);
  }
  Table table({"buffer", "type", "shape", ">offset", ">bytes", "in use from", "to"});
  for (const PlacedBuffer& one : region.buffers) {
    table.add({one.name, one.type, shape_text(one.shape), fmt::format("{}", one.offset), fmt::format("{}", one.bytes), one.first,
               one.last});
  }
  return text + table.render(style);
}

std::string config_text(const Plan& plan) {
  const ModelConfig& c = plan.config;
  return fmt::format(
      "{}: {} layers, hidden {}, {} heads on {} of {}, ffn {}, vocabulary {}{}, theta {}, eps {}\n"
      "context {}, prefill in chunks of {}, cache {} in {}\n",
      c.name, c.layers, c.hidden, c.heads, c.kv_heads, c.head_dim, c.ffn, c.vocab, c.tied ? " (tied)" : "", c.rope_theta,
      c.rms_eps, plan.options.context, plan.options.chunk, plan.options.kv_policy, dtype_name(plan.options.kv_type));
}

std::string fit_text(const Plan& plan, const Style& style) {
  const std::int64_t needed = planned_bytes(plan);
  const std::int64_t available = available_memory();
  const std::string figures =
      fmt::format("{} bytes ({}) planned, {} available", needed, bytes_text(needed), bytes_text(available));
  return (needed <= available ? style.good("fits") : style.bad("does not fit")) + ": " + figures + "\n";
}

std::int64_t meminfo_available() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::int64_t kib = 0;
  std::string rest;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(file, rest);
  }
  throw std::runtime_error("/proc/meminfo: no MemAvailable");
}

// What a limit file of the control group says; the most there is where it says "max" or is not there.
std::int64_t group_number(const char* path) {
  std::ifstream file(path);
  std::int64_t bytes = 0;
  return file >> bytes ? bytes : std::numeric_limits<std::int64_t>::max();
}

nlohmann::ordered_json region_json(const Region& region) {
  nlohmann::ordered_json json = {{"name", region.name}, {"bytes", region.bytes}};
  for (const PlacedBuffer& one : region.buffers) {
    json["buffers"].push_back({{"name", one.name},
                               {"type", one.type},
                               {"shape", one.shape},
                               {"offset", one.offset},
                               {"bytes", one.bytes},
                               {"first", one.first},
                               {"last", one.last}});
  }
  return json;
}

}  // namespace

std::int64_t available_memory() {
  const std::int64_t most = group_number("/sys/fs/cgroup/memory.max");
  const std::int64_t used = group_number("/sys/fs/cgroup/memory.current");
  const std::int64_t allowed = most == std::numeric_limits<std::int64_t>::max() ? most : std::max<std::int64_t>(0, most - used);
  return std::min(meminfo_available(), allowed);
}

std::int64_t planned_bytes(const Plan& plan) {
  const KvPlan kv = plan_kv_cache(plan.options.kv_policy, plan.kv, plan.options.context);
  std::int64_t bytes = kv.peak_bytes - kv.bytes;
  for (const Region& region : plan.regions()) bytes += region.bytes;
  return bytes;
}

std::string plan_text(const Plan& plan, bool all, const Style& style) {
  std::string text = config_text(plan) + "\n" + steps_text(plan, all, style);
  for (const Region& region : plan.regions()) text += "\n" + region_text(region, all, style);
  return text + "\n" + fit_text(plan, style);
}

nlohmann::ordered_json steps_json(const Plan& plan) {
  nlohmann::ordered_json json;
  const ModelConfig& c = plan.config;
  json["model"] = {{"name", c.name},         {"layers", c.layers},         {"hidden", c.hidden},  {"heads", c.heads},
                   {"kv_heads", c.kv_heads}, {"head_dim", c.head_dim},     {"ffn", c.ffn},        {"vocab", c.vocab},
                   {"tied", c.tied},         {"rope_theta", c.rope_theta}, {"rms_eps", c.rms_eps}};
  json["context"] = plan.options.context;
  json["chunk"] = plan.options.chunk;
  json["kv"] = plan.options.kv_policy;
  for (const Step& step : plan.steps) {
    json["steps"].push_back({{"site", step.site},
                             {"kind", step_kind_name(step.kind)},
                             {"decode", step.decode->name},
                             {"prefill", step.prefill->name},
                             {"from", operands_text(plan, step.inputs)},
                             {"to", outputs_text(plan, step)}});
  }
  for (const Region& region : plan.regions()) json["regions"].push_back(region_json(region));
  return json;
}

nlohmann::ordered_json plan_json(const Plan& plan) {
  nlohmann::ordered_json json = environment_json();
  json.update(steps_json(plan));
  json["planned_bytes"] = planned_bytes(plan);
  json["available_bytes"] = available_memory();
  json["fits"] = planned_bytes(plan) <= available_memory();
  return json;
}

}  // namespace assay::cli
