#include "harness/forensics/sites/site_name.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <charconv>

namespace assay {

SiteName parse_site(std::string_view site) {
  constexpr std::string_view kPrefix = "layers.";
  const std::size_t dot = site.find('.', kPrefix.size());
  int layer = -1;
  if (!site.starts_with(kPrefix) || dot == std::string_view::npos) return {-1, site};
  const auto [end, error] = std::from_chars(site.data() + kPrefix.size(), site.data() + dot, layer);
  if (error != std::errc() || end != site.data() + dot || layer < 0) return {-1, site};
  return {layer, site.substr(dot + 1)};
}

std::string layer_site(int layer, std::string_view op) {
  return fmt::format("layers.{:02}.{}", layer, op);
}

bool matches_glob(std::string_view glob, std::string_view text) {
  return fnmatch(std::string(glob).c_str(), std::string(text).c_str(), 0) == 0;
}

}  // namespace assay
