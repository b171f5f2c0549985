#include "golden/trace.h"

#include <algorithm>

#include "golden/store.h"

namespace assay {

TraceFile::TraceFile(const std::filesystem::path& path) : file_(path), attributes_(file_.attributes("/")) {
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

std::vector<std::string> TraceFile::ordered_sites(const std::string& group) const {
  const std::vector<std::string> names = file_.children(group);
  std::vector<std::string> ordered(names.size());
  for (const std::string& name : names) {
    const Attributes attributes = file_.attributes(group + "/" + name);
    const auto step = attributes.find("step");
    const auto* number = step == attributes.end() ? nullptr : std::get_if<std::int64_t>(&step->second);
    const bool fits = number != nullptr && *number >= 0 && *number < std::ssize(names);
    if (!fits || !ordered[static_cast<std::size_t>(*number)].empty()) {
      fail(group + "/" + name, "attribute 'step' is not its own number below " + std::to_string(names.size()));
    }
    ordered[static_cast<std::size_t>(*number)] = name;
  }
  ordered.emplace_back(kLogitsSite);
  return ordered;
}

TracePrompt TraceFile::prompt(const std::string& name) const {
  if (std::find(prompts_.begin(), prompts_.end(), name) == prompts_.end()) fail("/prompts", "no prompt '" + name + "'");
  const std::string group = "/prompts/" + name;
  TracePrompt out;
  out.name = name;
  if (file_.exists(group + "/text")) {
    const auto bytes = column<char>(group + "/text", DType::u8);
    out.text.assign(bytes.begin(), bytes.end());
  }
  out.tokens = column<std::int32_t>(group + "/tokens", DType::i32);
  out.positions = column<std::int32_t>(group + "/positions", DType::i32);
  if (std::any_of(out.tokens.begin(), out.tokens.end(), [](std::int32_t id) { return id < 0; })) {
    fail(group + "/tokens", "a negative id");
  }
  std::int32_t least = 0;
  for (const std::int32_t position : out.positions) {
    if (position < least || position >= std::ssize(out.tokens)) {
      fail(group + "/positions", "position " + std::to_string(position) + " is not ascending within the " +
                                     std::to_string(out.tokens.size()) + " tokens");
    }
    least = position + 1;
  }
  if (out.positions.empty()) fail(group + "/positions", "no rows");
  out.sites = ordered_sites(group + "/sites");
  if (!file_.exists(group + "/greedy")) return out;
  out.greedy =
      GreedyText{column<std::int32_t>(group + "/greedy/tokens", DType::i32), column<float>(group + "/greedy/gap", DType::f32)};
  if (out.greedy->tokens.size() != out.greedy->gap.size()) fail(group + "/greedy", "tokens and gaps differ in number");
  return out;
}

Array TraceFile::site(const TracePrompt& prompt, std::string_view site) const {
  const std::string group = "/prompts/" + prompt.name;
  const std::string object = site == kLogitsSite ? group + "/logits" : group + "/sites/" + std::string(site);
  Array array = file_.read(object);
  const bool real =
      array.dtype == DType::f32 || array.dtype == DType::f64 || array.dtype == DType::f16 || array.dtype == DType::bf16;
  if (!real) fail(object, std::string(dtype_name(array.dtype)) + "; expected numbers");
  if (array.shape.empty() || array.shape.front() != std::ssize(prompt.positions)) {
    fail(object, "expected " + std::to_string(prompt.positions.size()) + " rows, those of 'positions'");
  }
  return array;
}

}  // namespace assay
