#include "golden/trace_writer.h"

#include <algorithm>

#include "golden/store.h"

namespace assay {
namespace {

// A name is one component of a path.
bool is_name(std::string_view name) {
  return !name.empty() && name != "." && name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

std::int64_t TraceSite::row_bytes() const {
  auto bytes = static_cast<std::int64_t>(dtype_size(dtype));
  for (const std::int64_t dim : row_shape) bytes *= dim;
  return bytes;
}

std::int64_t raw_trace_bytes(std::span<const TraceSite> sites, std::int64_t rows) {
  std::int64_t bytes = 0;
  for (const TraceSite& site : sites) bytes += rows * site.row_bytes();
  return bytes;
}

TraceWriter::TraceWriter(const std::filesystem::path& path, const TraceHead& head) : file_(path, Hdf5Writer::Format::v110) {
  file_.set_attribute("/", "schema", kGoldenSchema);
  file_.set_attribute("/", "kind", "trace");
  const std::pair<const char*, const std::string&> texts[] = {
      {"model", head.model},   {"weights", head.weights}, {"model_sha256", head.model_sha256}, {"recipe", head.recipe},
      {"rope", head.rope},     {"dtype", head.dtype},     {"generator", head.generator},       {"version", head.version},
      {"source", head.source}, {"licence", head.licence}};
  for (const auto& [name, text] : texts) file_.set_attribute("/", name, text);
  file_.make_group("/prompts");
}

void TraceWriter::fail(const std::string& object, const std::string& what) const {
  throw Hdf5Error(path().string() + ": " + object + ": " + what);
}

void TraceWriter::write_text(const std::string& dataset, std::string_view text) {
  file_.write(dataset, DType::u8, {std::ssize(text)}, bytes_of(text));
}

template <class T>
void TraceWriter::write_column(const std::string& dataset, DType dtype, const std::vector<T>& column) {
  file_.write(dataset, dtype, {std::ssize(column)},
              {reinterpret_cast<const std::uint8_t*>(column.data()), column.size() * sizeof(T)});
}

void TraceWriter::set_plan(std::string_view json) {
  write_text("/plan", json);
}

void TraceWriter::open_prompt(const TracePrompt& prompt) {
  close_prompt();
  if (!is_name(prompt.name)) fail("/prompts", "'" + prompt.name + "' cannot name a prompt");
  const std::string group = "/prompts/" + prompt.name;
  check_trace_rows(prompt, [&](const std::string& column, const std::string& what) { fail(group + "/" + column, what); });
  file_.make_group(group);
  if (!prompt.text.empty()) write_text(group + "/text", prompt.text);
  write_column(group + "/tokens", DType::i32, prompt.tokens);
  write_column(group + "/positions", DType::i32, prompt.positions);
  file_.make_group(group + "/sites");
  group_ = group;
  rows_ = std::ssize(prompt.positions);
  ++prompts_;
}

void TraceWriter::declare(const TraceSite& site) {
  if (group_.empty()) fail(site.name, "a site declared before any prompt");
  if (!is_name(site.name)) fail(group_ + "/sites", "'" + site.name + "' cannot name a site");
  const std::string object = group_ + (site.name == kLogitsSite ? "/logits" : "/sites/" + site.name);
  if (!is_trace_dtype(site.dtype)) fail(object, std::string(dtype_name(site.dtype)) + "; expected numbers or blocks");
  if (sites_.contains(site.name)) fail(object, "declared twice");
  if (site.step < 0 || !steps_.insert(site.step).second) {
    fail(object, "step " + std::to_string(site.step) + " is negative or another site's");
  }
  sites_.emplace(site.name, file_.rows(object, site.dtype, rows_, site.row_shape));
  file_.set_attribute(object, "step", site.step);
  declared_bytes_ += rows_ * site.row_bytes();
}

void TraceWriter::append(std::string_view site, std::span<const std::uint8_t> rows) {
  const auto found = sites_.find(site);
  if (found == sites_.end()) fail(group_ + "/sites/" + std::string(site), "not declared");
  found->second.append(rows);
}

void TraceWriter::set_greedy(const GreedyText& greedy, std::string_view text) {
  const std::string group = group_ + "/greedy";
  if (group_.empty()) fail(group, "before any prompt");
  if (greedy.tokens.size() != greedy.gap.size()) fail(group, "tokens and gaps differ in number");
  file_.make_group(group);
  write_column(group + "/tokens", DType::i32, greedy.tokens);
  write_column(group + "/gap", DType::f32, greedy.gap);
  if (!text.empty()) write_text(group + "/text", text);
}

void TraceWriter::close_prompt() {
  if (group_.empty()) return;
  if (sites_.empty()) fail(group_, "no site was declared");
  for (const auto& [site, rows] : sites_) {
    if (rows.missing() == 0) continue;
    fail(group_ + ": " + site,
         std::to_string(rows.rows() - rows.missing()) + " rows; " + std::to_string(rows.rows()) + " were declared");
  }
  sites_.clear();
  steps_.clear();
  group_.clear();
}

void TraceWriter::commit() {
  close_prompt();
  if (prompts_ == 0) fail("/prompts", "a trace without prompts");
  file_.commit();
}

}  // namespace assay
