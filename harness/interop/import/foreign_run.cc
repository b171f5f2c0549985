#include "harness/interop/import/foreign_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "engine/model/config.h"
#include "harness/forensics/model/wiring.h"
#include "harness/forensics/sites/site_name.h"

namespace assay {

ImportError::ImportError(const std::string& file, const std::string& where, const std::string& why)
    : std::runtime_error(where.empty() ? file + ": " + why : file + ": " + where + ": " + why) {}

void write_foreign_run(const ForeignRun& run, const std::filesystem::path& out) {
  const std::string file = run.file.string();
  if (std::filesystem::exists(out) && std::filesystem::equivalent(out, run.file)) {
    throw ImportError(file, "", "the trace cannot take the place of its dump");
  }
  TraceWriter writer(out, run.head);
  for (const ForeignPrompt& prompt : run.prompts) {
    writer.open_prompt(prompt.prompt);
    std::int64_t step = 0;
    for (const ForeignSite& site : prompt.sites) {
      writer.declare({site.site, site.dtype, site.row_shape, step++});
      writer.append(site.site, std::span<const std::uint8_t>(site.read()));
    }
    if (prompt.prompt.greedy) writer.set_greedy(*prompt.prompt.greedy, prompt.greedy_text);
  }
  writer.commit();
}

std::vector<std::string> sites_of_layers(std::int64_t layers) {
  ModelConfig config;
  config.layers = layers;
  std::vector<std::string> names;
  for (SiteWiring& wiring : definition_wiring(config)) names.push_back(std::move(wiring.site));
  return names;
}

void check_all_sites(const ForeignPrompt& prompt, const std::string& file) {
  int last = -1;
  std::vector<std::string> missing;
  std::vector<std::string> unknown;
  for (const ForeignSite& site : prompt.sites) last = std::max(last, parse_site(site.site).layer);
  if (last >= kMostLayers) throw ImportError(file, prompt.prompt.name, fmt::format("a site of layer {}", last));
  const std::vector<std::string> expected = sites_of_layers(last + 1);
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(prompt.sites, name, &ForeignSite::site) != prompt.sites.end();
  };
  std::ranges::copy_if(expected, std::back_inserter(missing), [&](const std::string& name) { return !is_there(name); });
  for (const ForeignSite& site : prompt.sites) {
    if (std::ranges::find(expected, site.site) == expected.end()) unknown.push_back(site.site);
  }
  if (!unknown.empty())
    throw ImportError(file, prompt.prompt.name, fmt::format("no site is called {}", fmt::join(unknown, ", ")));
  if (!missing.empty()) {
    throw ImportError(file, prompt.prompt.name, fmt::format("nothing there is the site {}", fmt::join(missing, ", ")));
  }
}

std::vector<std::int32_t> read_ids(const Hdf5File& file, const std::string& dataset) {
  const Array array = file.read(dataset);
  if (array.shape.size() != 1 || (array.dtype != DType::i32 && array.dtype != DType::i64)) {
    throw ImportError(file.path().string(), dataset, "expected one axis of i32 or i64");
  }
  if (array.dtype == DType::i32) return {array.as<std::int32_t>(), array.as<std::int32_t>() + array.elements()};
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const std::int64_t id = array.as<std::int64_t>()[i];
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
      throw ImportError(file.path().string(), dataset, fmt::format("element {} is {}", i, id));
    }
    out.push_back(static_cast<std::int32_t>(id));
  }
  return out;
}

void check_rows(const TracePrompt& prompt, const std::string& file, const std::string& where) {
  check_trace_rows(prompt, [&](const std::string& column, const std::string& what) {
    throw ImportError(file, where.empty() ? column : where + "/" + column, what);
  });
}

}  // namespace assay
