#include "golden/trace.h"

#include <algorithm>
#include <map>

#include "golden/store.h"

namespace assay {
namespace {

std::string site_object(const std::string& prompt, std::string_view site) {
  const std::string group = "/prompts/" + prompt;
  return site == kLogitsSite ? group + "/logits" : group + "/sites/" + std::string(site);
}

}  // namespace

bool is_trace_dtype(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16 || is_block(dtype);
}

void check_trace_rows(const TracePrompt& prompt, const std::function<void(const std::string&, const std::string&)>& fail) {
  if (std::any_of(prompt.tokens.begin(), prompt.tokens.end(), [](std::int32_t id) { return id < 0; })) {
    fail("tokens", "a negative id");
  }
  std::int32_t least = 0;
  for (const std::int32_t position : prompt.positions) {
    if (position < least || position >= std::ssize(prompt.tokens)) {
      fail("positions", "position " + std::to_string(position) + " is not ascending within the " +
                            std::to_string(prompt.tokens.size()) + " tokens");
    }
    least = position + 1;
  }
  if (prompt.positions.empty()) fail("positions", "no rows");
}

TraceFile::TraceFile(const std::filesystem::path& path, Hdf5Origin origin)
    : file_(path, origin), attributes_(file_.attributes("/")) {
  const auto schema = attributes_.find("schema");
  const auto* number = schema == attributes_.end() ? nullptr : std::get_if<std::int64_t>(&schema->second);
  if (number == nullptr) fail("/", "no attribute 'schema': not a trace");
  if (*number != kGoldenSchema) {
    fail("/", "schema " + std::to_string(*number) + "; this program reads " + std::to_string(kGoldenSchema));
  }
  if (head("kind") != "trace") fail("/", "kind '" + head("kind") + "'; expected 'trace'");
  prompts_ = file_.children("/prompts");
  if (prompts_.empty()) fail("/prompts", "a trace without prompts");
}

void TraceFile::fail(const std::string& object, const std::string& what) const {
  throw Hdf5Error(file_.path().string() + ": " + object + ": " + what);
}

const std::string& TraceFile::head(std::string_view name) const {
  const auto found = attributes_.find(name);
  const auto* text = found == attributes_.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (text == nullptr) fail("/", "no string attribute '" + std::string(name) + "'");
  return *text;
}

template <class T>
std::vector<T> TraceFile::column(const std::string& object, DType dtype) const {
  const Array array = file_.read(object);
  if (array.dtype != dtype || array.shape.size() != 1) {
    fail(object, "expected one axis of " + std::string(dtype_name(dtype)));
  }
  return {array.as<T>(), array.as<T>() + array.elements()};
}

std::string TraceFile::text(const std::string& object) const {
  const auto bytes = column<char>(object, DType::u8);
  return {bytes.begin(), bytes.end()};
}

std::optional<std::string> TraceFile::plan() const {
  if (!file_.exists("/plan")) return std::nullopt;
  return text("/plan");
}

// By 'step'. Numbers are missing where a file keeps some of the sites.
std::vector<std::string> TraceFile::ordered_sites(const std::string& group) const {
  std::map<std::int64_t, std::string> ordered;
  for (const std::string& name : file_.children(group + "/sites")) {
    const std::string object = group + "/sites/" + name;
    const Attributes attributes = file_.attributes(object);
    const auto step = attributes.find("step");
    const auto* number = step == attributes.end() ? nullptr : std::get_if<std::int64_t>(&step->second);
    if (number == nullptr || *number < 0) fail(object, "no attribute 'step', an integer from 0 on");
    const auto [other, own] = ordered.emplace(*number, name);
    if (!own) fail(object, "step " + std::to_string(*number) + " is that of " + other->second + " too");
  }
  std::vector<std::string> out;
  for (auto& [step, name] : ordered) out.push_back(std::move(name));
  if (file_.exists(group + "/logits")) out.emplace_back(kLogitsSite);
  if (out.empty()) fail(group, "neither sites nor logits");
  return out;
}

TracePrompt TraceFile::prompt(const std::string& name) const {
  if (std::find(prompts_.begin(), prompts_.end(), name) == prompts_.end()) fail("/prompts", "no prompt '" + name + "'");
  const std::string group = "/prompts/" + name;
  TracePrompt out;
  out.name = name;
  if (file_.exists(group + "/text")) out.text = text(group + "/text");
  out.tokens = column<std::int32_t>(group + "/tokens", DType::i32);
  out.positions = column<std::int32_t>(group + "/positions", DType::i32);
  check_trace_rows(out, [&](const std::string& where, const std::string& what) { fail(group + "/" + where, what); });
  out.sites = ordered_sites(group);
  if (!file_.exists(group + "/greedy")) return out;
  out.greedy =
      GreedyText{column<std::int32_t>(group + "/greedy/tokens", DType::i32), column<float>(group + "/greedy/gap", DType::f32)};
  if (out.greedy->tokens.size() != out.greedy->gap.size()) fail(group + "/greedy", "tokens and gaps differ in number");
  return out;
}

Array TraceFile::describe(const TracePrompt& prompt, std::string_view site) const {
  const std::string object = site_object(prompt.name, site);
  Array array = file_.describe(object);
  if (!is_trace_dtype(array.dtype)) fail(object, std::string(dtype_name(array.dtype)) + "; expected numbers or blocks");
  if (array.shape.empty() || array.shape.front() != std::ssize(prompt.positions)) {
    fail(object, "expected " + std::to_string(prompt.positions.size()) + " rows, those of 'positions'");
  }
  return array;
}

Array TraceFile::site(const TracePrompt& prompt, std::string_view site) const {
  describe(prompt, site);
  return file_.read(site_object(prompt.name, site));
}

}  // namespace assay
