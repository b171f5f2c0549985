// What a site's name says: layer and op (docs/design.md).
#pragma once

#include <string>
#include <string_view>

namespace assay {

struct SiteName {
  int layer = -1;       // -1: none
  std::string_view op;  // "q_proj" of "layers.07.q_proj"; a name without layer as it is; lives as long as the name
};

SiteName parse_site(std::string_view site);

// "layers.07.q_proj".
std::string layer_site(int layer, std::string_view op);

// `glob` with * for any run of characters and ? for one.
bool matches_glob(std::string_view glob, std::string_view text);

}  // namespace assay
