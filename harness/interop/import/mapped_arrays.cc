// Arrays into sites, as a map says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "harness/forensics/model/definition.h"
#include "harness/interop/import/array_map.h"
#include "harness/verdict/nearest.h"

namespace assay {
namespace {

class Mapper {
 public:
  Mapper(std::shared_ptr<const ArrayFile> arrays, const ArrayMap& map) : arrays_(std::move(arrays)), map_(map) {}

  ForeignRun read(const std::string& kind) {
    ForeignRun run{arrays_->name(), {}, {}, {}};
    TraceHead head = map_.head;
    if (head.source.empty()) head.source = run.file.filename().string();
    run.head = complete_head(std::move(head), {}, kind, map_.file.string());
    for (const MappedPrompt& mapped : map_.prompts) run.prompts.push_back(prompt(mapped));
    for (const ArrayInfo& array : arrays_->arrays()) {
      if (!used_.contains(array.name)) run.left_out.push_back({"", array.name, "the map does not name it"});
    }
    return run;
  }

 private:
  // Throws ImportError: "FILE: PROMPT: ARRAY: why".
  [[noreturn]] void fail(const std::string& prompt, const std::string& array, const std::string& why) const {
    throw ImportError(arrays_->name(), fmt::format("{}: array '{}'", prompt, array), why);
  }

  std::size_t find(const std::string& prompt, const std::string& array) {
    if (const auto index = arrays_->find(array)) {
      used_.insert(array);
      return *index;
    }
    std::vector<std::string> known;
    for (const ArrayInfo& one : arrays_->arrays()) known.push_back(one.name);
    fail(prompt, array, "the file has none of that name; the nearest is '" + nearest(array, known) + "'");
  }

  std::vector<std::int32_t> ids(const std::string& prompt, const MappedIds& mapped) {
    if (mapped.given) return *mapped.given;
    const std::size_t index = find(prompt, mapped.array);
    const ArrayInfo& info = arrays_->arrays()[index];
    if (info.dtype != DType::i32 && info.dtype != DType::i64) {
      fail(prompt, mapped.array, "elements of " + info.type + "; expected integers of 32 or 64 bits");
    }
    const std::size_t axes = mapped.batch ? 2 : 1;
    if (info.shape.size() != axes || (mapped.batch && info.shape.front() != 1)) {
      fail(prompt, mapped.array,
           fmt::format("shape [{}]; expected [{}n]", fmt::join(info.shape, ", "), mapped.batch ? "1, " : ""));
    }
    const std::vector<std::uint8_t> bytes = arrays_->read(index);
    std::vector<std::int32_t> out;
    for (std::int64_t i = 0; i < info.elements(); ++i) {
      std::int64_t id = 0;
      if (info.dtype == DType::i32) {
        std::int32_t narrow = 0;
        std::memcpy(&narrow, bytes.data() + i * 4, sizeof narrow);
        id = narrow;
      } else {
        std::memcpy(&id, bytes.data() + i * 8, sizeof id);
      }
      if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
        fail(prompt, mapped.array, fmt::format("element {} is {}", i, id));
      out.push_back(static_cast<std::int32_t>(id));
    }
    return out;
  }

  ForeignPrompt prompt(const MappedPrompt& mapped) {
    ForeignPrompt out;
    out.prompt.name = mapped.name;
    out.prompt.text = mapped.text;
    out.prompt.tokens = ids(mapped.name, mapped.tokens);
    if (mapped.positions.all) {
      out.prompt.positions.resize(out.prompt.tokens.size());
      std::iota(out.prompt.positions.begin(), out.prompt.positions.end(), 0);
    } else {
      out.prompt.positions = ids(mapped.name, mapped.positions);
    }
    check_rows(out.prompt, arrays_->name(), mapped.name);
    for (auto site = mapped.sites.begin(); site != mapped.sites.end(); ++site) {
      const auto other = std::find_if(mapped.sites.begin(), site, [&](const MappedSite& one) { return overlap(one, *site); });
      if (other != site) fail(mapped.name, site->array, fmt::format("it is both {} and {}", other->site, site->site));
      add(out, *site);
    }
    check_heads(out);
    return out;
  }

  static bool overlap(const MappedSite& one, const MappedSite& other) {
    if (one.array != other.array) return false;
    return !one.columns || !other.columns ||
           (one.columns->first < other.columns->second && other.columns->first < one.columns->second);
  }

  // A layer's sites tell heads and widths alike.
  void check_heads(const ForeignPrompt& prompt) const {
    struct Alike {
      const char* site;
      const char* with;
      bool by_head;  // heads and their width; else what these make
    };
    static constexpr Alike kAlike[] = {{"q_rope", "q_norm", true},  {"k_rope", "k_norm", true},  {"q_proj", "q_norm", false},
                                       {"q_proj", "q_rope", false}, {"k_proj", "k_norm", false}, {"k_proj", "k_rope", false},
                                       {"v_proj", "k_norm", false}, {"v_proj", "k_proj", false}, {"attn", "q_norm", false},
                                       {"attn", "q_proj", false}};
    std::map<std::string, const ForeignSite*> sites;
    for (const ForeignSite& site : prompt.sites) sites.emplace(site.site, &site);
    for (const auto& [name, site] : sites) {
      const std::size_t dot = name.rfind('.');
      if (dot == std::string::npos) continue;
      for (const Alike& one : kAlike) {
        const auto with = sites.find(name.substr(0, dot + 1) + one.with);
        if (name.substr(dot + 1) != one.site || with == sites.end()) continue;
        const std::vector<std::int64_t>& own = site->row_shape;
        const std::vector<std::int64_t>& other = with->second->row_shape;
        if (one.by_head ? own == other : product(own) == product(other)) continue;
        fail(prompt.prompt.name, site->from,
             fmt::format("rows of {} are [{}]; those of {} are [{}] (array '{}')", name, fmt::join(own, ", "), with->first,
                         fmt::join(other, ", "), with->second->from));
      }
    }
  }

  static std::int64_t product(const std::vector<std::int64_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }

  DType dtype_of(const std::string& prompt, const MappedSite& site, const ArrayInfo& info) const {
    if (site.bf16 && info.dtype)
      fail(prompt, site.array, "elements of " + info.type + "; only those of <u2 can be taken as bf16");
    if (site.bf16) return DType::bf16;
    if (!info.dtype) fail(prompt, site.array, R"(elements of <u2: if they are bf16, the map says "as": "bf16")");
    if (!is_trace_dtype(*info.dtype)) fail(prompt, site.array, "elements of " + info.type + "; expected real numbers");
    return *info.dtype;
  }

  void add(ForeignPrompt& prompt, const MappedSite& site) {
    const std::string& name = prompt.prompt.name;
    const std::size_t index = find(name, site.array);
    const ArrayInfo& info = arrays_->arrays()[index];
    RowLayout layout;
    try {
      layout = lay_rows(info.shape, site.layout, std::ssize(prompt.prompt.tokens), prompt.prompt.positions);
      if (site.columns) take_columns(layout, site.columns->first, site.columns->second);
    } catch (const std::invalid_argument& error) {
      fail(name, site.array, fmt::format("as {}: {}", site.site, error.what()));
    }
    prompt.sites.push_back(
        {site.site, site.array, dtype_of(name, site, info), row_shape(name, site, layout), [arrays = arrays_, index, layout] {
           return gather_rows(layout, arrays->read(index), arrays->arrays()[index].element);
         }});
  }

  // A site's rows are flat or by head; the bytes are the same.
  std::vector<std::int64_t> row_shape(const std::string& prompt, const MappedSite& site, const RowLayout& layout) const {
    const bool by_head = std::ranges::find(site.layout, Axis::head) != site.layout.end();
    if (!has_heads(site.site)) {
      if (site.heads != 0) fail(prompt, site.array, "heads are not for " + site.site);
      return {layout.heads * layout.width};
    }
    if (by_head) {
      if (site.heads != 0) fail(prompt, site.array, "its layout has the heads; the map's 'heads' is one too many");
      return {layout.heads, layout.width};
    }
    if (site.heads == 0) fail(prompt, site.array, fmt::format("flat rows of {}: the map must say 'heads'", site.site));
    if (layout.width % site.heads != 0) {
      fail(prompt, site.array, fmt::format("rows of {} do not divide into {} heads", layout.width, site.heads));
    }
    return {site.heads, layout.width / site.heads};
  }

  std::shared_ptr<const ArrayFile> arrays_;
  const ArrayMap& map_;
  std::set<std::string> used_;
};

}  // namespace

ForeignRun read_mapped_arrays(const std::shared_ptr<const ArrayFile>& arrays, const ArrayMap& map, const std::string& kind) {
  return Mapper(arrays, map).read(kind);
}

}  // namespace assay
