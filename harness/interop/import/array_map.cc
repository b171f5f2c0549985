#include "harness/interop/import/array_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/files/strict_json.h"
#include "engine/model/config.h"
#include "engine/model/json_members.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/verdict/nearest.h"

namespace assay {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostBytes = 64U << 20;
constexpr std::string_view kLayerMark = "{layer}";

bool is_pattern(std::string_view text) {
  return text.find(kLayerMark) != std::string_view::npos;
}

std::string in_layer(std::string text, const std::string& layer) {
  for (std::size_t at = text.find(kLayerMark); at != std::string::npos; at = text.find(kLayerMark, at + layer.size())) {
    text.replace(at, kLayerMark.size(), layer);
  }
  return text;
}

class MapReader {
 public:
  explicit MapReader(const std::filesystem::path& path)
      : file_(path.string()), top_(read_strict_json(MappedFile(path), kMostBytes)) {}

  ArrayMap read() {
    const JsonMembers members(top_, file_);
    check_names(members, top_,
                {"model", "weights", "model_sha256", "recipe", "rope", "dtype", "source", "licence", "layers", "prompts"});
    ArrayMap out;
    out.file = file_;
    out.head.model = members.string("model");
    out.head.weights = members.string("weights");
    out.head.model_sha256 = members.optional_string("model_sha256").value_or("");
    const json* const recipe = members.find("recipe");  // a name, or an object that says what differs from one
    out.head.recipe = recipe != nullptr && recipe->is_object() ? recipe->dump() : members.string("recipe");
    out.head.rope = members.string("rope");
    out.head.dtype = members.string("dtype");
    out.head.source = members.optional_string("source").value_or("");
    out.head.licence = members.optional_string("licence").value_or("");
    if (members.find("layers") != nullptr) layers_ = members.integer("layers", 1, kMostLayers);
    const json& prompts = object(members, "", "prompts");
    if (prompts.empty()) members.fail(Fault::member, "prompts", "no prompt");
    for (const auto& [name, prompt] : prompts.items()) out.prompts.push_back(read_prompt(name, prompt));
    return out;
  }

 private:
  static void check_names(const JsonMembers& members, const json& object, const std::vector<std::string>& known) {
    for (const auto& [name, value] : object.items()) {
      if (std::ranges::find(known, name) == known.end()) members.fail(Fault::member, name, unknown_name("member", name, known));
    }
  }

  // An object that must be there.
  static const json& object(const JsonMembers& members, const std::string& prefix, const std::string& name) {
    const json* value = members.find(name);
    if (value == nullptr) members.fail(Fault::missing_key, name, "it is missing");
    if (!value->is_object()) members.fail(Fault::key_type, prefix + name, "expected an object");
    return *value;
  }

  MappedPrompt read_prompt(const std::string& name, const json& value) {
    const std::string prefix = "prompts." + name + ".";
    if (!value.is_object()) JsonMembers(top_, file_).fail(Fault::key_type, "prompts." + name, "expected an object");
    const JsonMembers members(value, file_, prefix);
    check_names(members, value, {"text", "tokens", "positions", "sites"});
    MappedPrompt out{name,
                     members.optional_string("text").value_or(""),
                     read_ids(members, "tokens", "token"),
                     read_ids(members, "positions", "row"),
                     {}};
    if (out.tokens.all) members.fail(Fault::member, "tokens", "expected numbers, or an array's name and layout");
    const json& sites = object(members, "", "sites");
    if (sites.empty()) members.fail(Fault::member, "sites", "no site");
    for (const auto& [site, array] : sites.items()) read_site(out, prefix + "sites.", site, array);
    sort_sites(out, members);
    return out;
  }

  MappedIds read_ids(const JsonMembers& members, const std::string& name, const std::string& axis) const {
    const json* value = members.find(name);
    if (value == nullptr) members.fail(Fault::missing_key, name, "it is missing");
    MappedIds out;
    if (*value == "all") {
      out.all = true;
    } else if (value->is_array()) {
      out.given.emplace();
      for (const json& id : *value) {
        const bool fits = id.is_number_unsigned() && id.get<std::uint64_t>() <= INT32_MAX;
        if (!fits) members.fail(Fault::key_value, name, id.dump() + "; expected integers from 0 to 2^31 - 1");
        out.given->push_back(id.get<std::int32_t>());
      }
    } else if (value->is_object()) {
      const JsonMembers array(*value, file_, "prompts." + name + ".");
      check_names(array, *value, {"array", "layout"});
      out.array = array.string("array");
      const std::string layout = array.string("layout");
      out.batch = layout == "batch," + axis;
      if (!out.batch && layout != axis) array.fail(Fault::key_value, "layout", fmt::format("expected {0} or batch,{0}", axis));
    } else {
      members.fail(Fault::key_type, name, "expected numbers, or an array's name and layout");
    }
    return out;
  }

  void read_site(MappedPrompt& prompt, const std::string& prefix, const std::string& name, const json& value) {
    if (!value.is_object()) JsonMembers(top_, file_).fail(Fault::key_type, prefix + name, "expected an object");
    const JsonMembers members(value, file_, prefix + name + ".");
    check_names(members, value, {"array", "layout", "columns", "as", "heads"});
    MappedSite site{name, members.string("array"), {}};
    try {
      site.layout = parse_layout(members.string("layout"));
    } catch (const std::invalid_argument& error) {
      members.fail(Fault::key_value, "layout", error.what());
    }
    if (const json* columns = members.find("columns")) {
      const bool two =
          columns->is_array() && columns->size() == 2 && (*columns)[0].is_number_unsigned() && (*columns)[1].is_number_unsigned();
      if (!two) members.fail(Fault::key_value, "columns", "expected [first, end]");
      site.columns = std::pair((*columns)[0].get<std::int64_t>(), (*columns)[1].get<std::int64_t>());
    }
    if (const auto as = members.optional_string("as")) {
      if (*as != "bf16") members.fail(Fault::key_value, "as", "expected bf16");
      site.bf16 = true;
    }
    if (members.find("heads") != nullptr) site.heads = members.integer("heads", 1, kMostHeads);
    if (!is_pattern(name)) {
      prompt.sites.push_back(std::move(site));
      return;
    }
    if (layers_ == 0) JsonMembers(top_, file_).fail(Fault::missing_key, "layers", "it is missing, and a site says {layer}");
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      MappedSite one = site;
      one.site = in_layer(name, fmt::format("{:02}", layer));
      one.array = in_layer(site.array, std::to_string(layer));
      prompt.sites.push_back(std::move(one));
    }
  }

  static void sort_sites(MappedPrompt& prompt, const JsonMembers& members) {
    int last = 0;
    for (const MappedSite& site : prompt.sites) last = std::max(last, parse_site(site.site).layer);
    if (last >= kMostLayers) members.fail(Fault::key_value, "sites", fmt::format("a site of layer {}", last));
    const std::vector<std::string> known = sites_of_layers(last + 1);
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < known.size(); ++i) place.emplace(known[i], i);
    for (const MappedSite& site : prompt.sites) {
      if (!place.contains(site.site)) members.fail(Fault::name, "sites." + site.site, unknown_name("site", site.site, known));
    }
    std::ranges::sort(prompt.sites, {}, [&](const MappedSite& site) { return place.at(site.site); });
    const auto twice = std::ranges::adjacent_find(prompt.sites, {}, &MappedSite::site);
    if (twice != prompt.sites.end()) members.fail(Fault::duplicate, "sites." + twice->site, "it is there twice");
  }

  std::string file_;
  json top_;
  std::int64_t layers_ = 0;
};

}  // namespace

ArrayMap read_array_map(const std::filesystem::path& path) {
  return MapReader(path).read();
}

}  // namespace assay
