#include "harness/interop/import/hf_dump.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "harness/forensics/model/definition.h"
#include "harness/forensics/trace/prompts.h"

namespace assay {
namespace {

class HfReader {
 public:
  HfReader(const std::filesystem::path& path, const HfImport& options)
      : file_(std::make_shared<const Hdf5File>(path)), name_(path.string()), options_(options) {}

  ForeignRun read() {
    ForeignRun run{file_->path(), {}, {}, {}};
    run.head = complete_head(head(), options_.head, "hf", name_);
    const std::vector<std::string> all = file_->children("/");
    if (all.empty()) throw ImportError(name_, "/", "no group: a dump has one a prompt");
    const std::vector<std::string> wanted = chosen_prompts(name_, all, options_.prompts);
    for (const std::string& name : all) {
      if (std::ranges::find(wanted, name) != wanted.end()) {
        run.prompts.push_back(prompt(name));
      } else {
        run.left_out.push_back({name, "/" + name, "a prompt that was not asked for"});
      }
    }
    return run;
  }

 private:
  static std::string text(const Attributes& attributes, std::string_view name) {
    const auto found = attributes.find(name);
    const auto* value = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
    return value == nullptr ? "" : *value;
  }

  TraceHead head() const {
    const Attributes attributes = file_->attributes("/");
    TraceHead head;
    head.model = text(attributes, "model");
    head.source = text(attributes, "source");
    head.dtype = text(attributes, "dtype");
    if (head.dtype.empty()) throw ImportError(name_, "/", "no attribute 'dtype': the type that the run was computed in");
    // fp64 is not a type that transformers' models are run in: such a dump is of the definition.
    head.recipe = head.dtype == "float64" ? "definition" : "hf";
    head.rope = head.dtype == "float64" ? "f64" : "hf";
    return head;
  }

  ForeignPrompt prompt(const std::string& name) const {
    const std::string group = "/" + name;
    if (!file_->is_group(group)) throw ImportError(name_, group, "expected a group, a prompt");
    ForeignPrompt out;
    out.prompt.name = name;
    out.prompt.text = text(file_->attributes(group), "text");
    out.prompt.tokens = read_ids(*file_, group + "/tokens");
    out.prompt.positions = read_ids(*file_, group + "/positions");
    check_rows(out.prompt, name_, group);
    for (const auto& [step, site] : ordered_sites(group)) add(out, site, group + "/sites/" + site);
    add(out, std::string(kLogitsSite), group + "/logits");
    check_all_sites(out, name_);
    if (file_->exists(group + "/greedy")) read_greedy(out, group + "/greedy");
    return out;
  }

  std::map<std::int64_t, std::string> ordered_sites(const std::string& group) const {
    std::map<std::int64_t, std::string> ordered;
    for (const std::string& site : file_->children(group + "/sites")) {
      const std::string dataset = group + "/sites/" + site;
      const Attributes attributes = file_->attributes(dataset);
      const auto step = attributes.find("step");
      const auto* number = step == attributes.end() ? nullptr : std::get_if<std::int64_t>(&step->second);
      if (number == nullptr) throw ImportError(name_, dataset, "no integer attribute 'step'");
      const auto [other, own] = ordered.emplace(*number, site);
      if (!own) throw ImportError(name_, dataset, fmt::format("step {} is that of {} too", *number, other->second));
    }
    return ordered;
  }

  void add(ForeignPrompt& prompt, const std::string& site, const std::string& dataset) const {
    const Array array = file_->describe(dataset);
    const std::size_t axes = has_heads(site) ? 3 : 2;
    const auto bad = [&](const std::string& why) {
      throw ImportError(name_, dataset, fmt::format("shape [{}]: {}", fmt::join(array.shape, ", "), why));
    };
    if (!is_trace_dtype(array.dtype) || is_block(array.dtype)) bad(fmt::format("values of {}", dtype_name(array.dtype)));
    if (array.shape.size() != axes) bad(axes == 3 ? "expected [row, head, head_dim]" : "expected [row, feature]");
    if (array.shape[0] != std::ssize(prompt.prompt.positions)) {
      bad(fmt::format("{} rows; 'positions' has {}", array.shape[0], prompt.prompt.positions.size()));
    }
    if (array.elements() == 0) bad("an axis without elements");
    prompt.sites.push_back({site, dataset, array.dtype, {array.shape.begin() + 1, array.shape.end()}, [file = file_, dataset] {
                              return file->read(dataset).bytes;
                            }});
  }

  void read_greedy(ForeignPrompt& prompt, const std::string& group) const {
    GreedyText greedy{read_ids(*file_, group + "/tokens"), {}};
    const Array gap = file_->read(group + "/gap");
    if (gap.dtype != DType::f32 || gap.shape != std::vector{std::ssize(greedy.tokens)}) {
      throw ImportError(name_, group + "/gap", fmt::format("expected {} of f32, one a token", greedy.tokens.size()));
    }
    greedy.gap.assign(gap.as<float>(), gap.as<float>() + gap.elements());
    prompt.prompt.greedy = std::move(greedy);
    prompt.greedy_text = text(file_->attributes(group), "text");
  }

  std::shared_ptr<const Hdf5File> file_;
  std::string name_;
  const HfImport& options_;
};

}  // namespace

ForeignRun read_hf_dump(const std::filesystem::path& path, const HfImport& options) {
  return HfReader(path, options).read();
}

}  // namespace assay
