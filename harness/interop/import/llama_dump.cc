#include "harness/interop/import/llama_dump.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <numeric>

#include "engine/model/roles.h"
#include "harness/forensics/model/definition.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/interop/import/layout.h"

namespace assay {
namespace {

// The number that is all of `text`.
std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number >= kMostLayers) return std::nullopt;
  return number;
}

// What follows `before`, up to `end`, as a layer's number.
std::optional<int> layer_behind(std::string_view text, const std::string& before, char end) {
  if (!text.starts_with(before)) return std::nullopt;
  text.remove_prefix(before.size());
  return number_in(text.substr(0, text.find(end)));
}

// The layer whose site the node is; nothing where it is none of this definition.
std::optional<int> layer_of(const LlamaNode& node, const SiteDefinition& site) {
  for (const GraphNode& one : site.llama) {
    if (one.op.empty() || one.op != node.op) continue;
    const auto layer =
        one.name.empty() ? layer_behind(node.src0, "blk.", '.') : layer_behind(node.name, std::string(one.name) + "-", '\0');
    if (layer && (!one.name.empty() || node.src0 == gguf_tensor_name(*site.weight, *layer))) return layer;
  }
  return std::nullopt;
}

std::string why_left_out(const LlamaNode& node) {
  constexpr std::string_view kViews[] = {"NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"};
  constexpr std::string_view kCopies[] = {"SET_ROWS", "CPY", "DUP", "CONT", "GET_ROWS"};
  if (std::ranges::find(kViews, node.op) != std::end(kViews)) return "a view of another node";
  if (std::ranges::find(kCopies, node.op) != std::end(kCopies)) return "a copy of another node's rows";
  return "lies between two sites";
}

class LlamaReader {
 public:
  LlamaReader(const std::filesystem::path& path, const LlamaImport& options)
      : file_(std::make_shared<const Hdf5File>(path)), name_(path.string()), options_(options) {}

  ForeignRun read() {
    ForeignRun run{file_->path(), {}, {}, {}};
    run.head = complete_head(head(), options_.head, "llama.cpp", name_);
    ForeignPrompt& prompt = run.prompts.emplace_back();
    read_rows(prompt);
    std::map<std::pair<std::string, std::string>, int> occurrences;
    for (const std::string& number : node_numbers()) {
      const std::string dataset = "/nodes/" + number;
      const LlamaNode node = node_of(dataset);
      const int occurrence = ++occurrences[{node.name, node.op}];
      const std::string from = fmt::format("nodes/{} ({} {}{})", number, node.name, node.op,
                                           occurrence > 1 ? fmt::format(", number {} of that name and op", occurrence) : "");
      const auto site = llama_site(node);
      if (!site || *site == kLogitsSite) {
        run.left_out.push_back({options_.prompt, from, site ? "the site lm_head, which 'logits' has" : why_left_out(node)});
        continue;
      }
      add(prompt, *site, from, dataset);
    }
    add_logits(prompt);
    check_all_sites(prompt, name_);
    return run;
  }

 private:
  TraceHead head() const {
    TraceHead head;
    head.recipe = "llama.cpp";
    head.rope = "ggml";
    head.dtype = "float32";
    head.source = text("/", file_->attributes("/"), "source", "llama.cpp");
    return head;
  }

  std::string text(const std::string& object, const Attributes& attributes, std::string_view attribute,
                   const std::optional<std::string>& absent) const {
    const auto found = attributes.find(attribute);
    const auto* value = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
    if (value != nullptr) return *value;
    if (!absent) throw ImportError(name_, object, fmt::format("no string attribute '{}'", attribute));
    return *absent;
  }

  // In execution order: 10000 follows 9999.
  std::vector<std::string> node_numbers() const {
    std::vector<std::string> numbers = file_->children("/nodes");
    std::ranges::stable_sort(numbers, {}, &std::string::size);
    return numbers;
  }

  LlamaNode node_of(const std::string& dataset) const {
    const Attributes attributes = file_->attributes(dataset);
    return {text(dataset, attributes, "name", std::nullopt), text(dataset, attributes, "op", std::nullopt),
            text(dataset, attributes, "src0", "")};
  }

  void read_rows(ForeignPrompt& prompt) {
    prompt.prompt.name = options_.prompt;
    prompt.prompt.text = options_.text;
    prompt.prompt.tokens = read_ids(*file_, "/tokens");
    prompt.prompt.positions = options_.outputs;
    if (options_.outputs.empty()) {
      prompt.prompt.positions.resize(prompt.prompt.tokens.size());
      std::iota(prompt.prompt.positions.begin(), prompt.prompt.positions.end(), 0);
    }
    check_rows(prompt.prompt, name_, "");
  }

  // ggml's ne counts from the innermost axis; the dataset has them outermost first, leading ones left out or not.
  std::vector<std::int64_t> shape_of(const std::string& site, const std::string& from, const std::string& dataset) const {
    std::vector<std::int64_t> ne = file_->integer_array(dataset, "ne");
    const Array stored = file_->describe(dataset);
    const auto bad = [&](const std::string& why) {
      throw ImportError(name_, from, fmt::format("ne [{}] of site {}: {}", fmt::join(ne, ", "), site, why));
    };
    if (stored.dtype != DType::f32) bad(fmt::format("values of {}; expected f32", dtype_name(stored.dtype)));
    if (ne.size() != 4 || std::ranges::any_of(ne, [](std::int64_t n) { return n < 1; })) bad("expected four numbers from 1 on");
    const std::size_t axes = has_heads(site) ? 3 : 2;
    std::vector<std::int64_t> shape(ne.rend() - static_cast<std::ptrdiff_t>(axes), ne.rend());
    for (std::size_t i = axes; i < ne.size(); ++i) {
      if (ne[i] != 1) bad(axes == 3 ? "expected [head_dim, heads, rows, 1]" : "expected [features, rows, 1, 1]");
    }
    const auto significant = [](const std::vector<std::int64_t>& dims) {
      return std::vector(std::ranges::find_if(dims, [](std::int64_t n) { return n != 1; }), dims.end());
    };
    if (significant(stored.shape) != significant(shape)) {
      bad(fmt::format("the dataset's shape is [{}]", fmt::join(stored.shape, ", ")));
    }
    return shape;
  }

  RowLayout layout_of(const ForeignPrompt& prompt, const std::string& from, const std::vector<std::int64_t>& shape) const {
    const auto tokens = std::ssize(prompt.prompt.tokens);
    const std::int64_t rows = shape.front();
    if (rows != tokens && rows != std::ssize(prompt.prompt.positions)) {
      const char* const hint =
          options_.outputs.empty() && rows < tokens ? ": only those whose logits were asked for? Then --outputs says which" : "";
      throw ImportError(name_, from, fmt::format("{} rows of {} tokens{}", rows, tokens, hint));
    }
    const Axis row = rows == tokens ? Axis::token : Axis::row;
    const std::vector<Axis> axes = shape.size() == 3 ? std::vector{row, Axis::head, Axis::dim} : std::vector{row, Axis::feature};
    return lay_rows(shape, axes, tokens, prompt.prompt.positions);
  }

  void add(ForeignPrompt& prompt, const std::string& site, const std::string& from, const std::string& dataset) {
    const auto twin = std::ranges::find(prompt.sites, site, &ForeignSite::site);
    if (twin != prompt.sites.end()) {
      throw ImportError(name_, from, fmt::format("site {} is {} already; a dump holds one pass", site, twin->from));
    }
    const std::vector<std::int64_t> shape = shape_of(site, from, dataset);
    push(prompt, {site, from, DType::f32, {shape.begin() + 1, shape.end()}, {}}, layout_of(prompt, from, shape), dataset);
  }

  void add_logits(ForeignPrompt& prompt) {
    const Array logits = file_->describe("/logits");
    if (logits.dtype != DType::f32 || logits.shape.size() != 2)
      throw ImportError(name_, "logits", "expected [rows, vocab] of f32");
    push(prompt, {std::string(kLogitsSite), "logits", DType::f32, {logits.shape[1]}, {}},
         layout_of(prompt, "logits", logits.shape), "/logits");
  }

  void push(ForeignPrompt& prompt, ForeignSite site, const RowLayout& layout, const std::string& dataset) const {
    site.read = [file = file_, layout, dataset] { return gather_rows(layout, file->read(dataset).bytes, sizeof(float)); };
    prompt.sites.push_back(std::move(site));
  }

  std::shared_ptr<const Hdf5File> file_;
  std::string name_;
  const LlamaImport& options_;
};

}  // namespace

std::optional<std::string> llama_site(const LlamaNode& node) {
  const auto is_node = [&](const GraphNode& one) { return one.name == node.name && one.op == node.op && !one.op.empty(); };
  for (const Architecture* const one : architectures()) {
    for (const SiteDefinition& site : one->layer) {
      if (const auto layer = layer_of(node, site)) return layer_site(*layer, site.name);
    }
    for (const auto sites : {one->before, one->after}) {
      for (const SiteDefinition& site : sites) {
        if (std::ranges::any_of(site.llama, is_node)) return std::string(site.name);
      }
    }
  }
  return std::nullopt;
}

ForeignRun read_llama_dump(const std::filesystem::path& path, const LlamaImport& options) {
  return LlamaReader(path, options).read();
}

}  // namespace assay
