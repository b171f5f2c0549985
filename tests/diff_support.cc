#include "tests/diff_support.h"

#include <algorithm>
#include <stdexcept>

#include "harness/forensics/diff/page.h"

namespace assay {

void copy_trace(const std::filesystem::path& from, const std::filesystem::path& to, const std::vector<std::string>& prompts,
                const ChangeSite& change) {
  const TraceFile source(from);
  TraceWriter writer(
      to, {source.head("model"), source.head("weights"), source.head("model_sha256"), source.head("recipe"), source.head("rope"),
           source.head("dtype"), "tests/diff_support.cc", "1", source.head("source"), source.head("licence")});
  for (const std::string& name : prompts.empty() ? source.prompts() : prompts) {
    const TracePrompt prompt = source.prompt(name);
    writer.open_prompt(prompt);
    std::int64_t step = 0;
    for (const std::string& site : prompt.sites) {
      Array values = source.site(prompt, site);
      if (!change(site, values)) continue;
      writer.declare({site, values.dtype, {values.shape.begin() + 1, values.shape.end()}, step++});
      writer.append(site, std::span<const std::uint8_t>(values.bytes));
    }
    if (prompt.greedy) writer.set_greedy(*prompt.greedy, "");
  }
  writer.commit();
}

void disturb(Array& values, double relative, std::int64_t row) {
  if (values.dtype != DType::f32) throw std::invalid_argument("disturb: f32 alone");
  auto* x = reinterpret_cast<float*>(values.bytes.data());
  const std::int64_t length = values.elements() / values.shape.front();
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    const auto hash = static_cast<std::uint32_t>(i) * 2654435761U;
    const double u = 2 * ((hash + 0.5) / 4294967296.0) - 1;
    if (row < 0 || i / length == row) x[i] = static_cast<float>(x[i] * (1 + relative * u));
  }
}

From::From(const std::filesystem::path& trace, const std::string& prompt, const std::string& site) {
  const std::vector<std::string> all = TraceFile(trace).prompt(prompt).sites;
  sites_.assign(std::find(all.begin(), all.end(), site), all.end());
  if (sites_.empty()) throw std::invalid_argument("no site " + site);
}

bool From::operator()(const std::string& site) const {
  return std::find(sites_.begin(), sites_.end(), site) != sites_.end();
}

diff::TraceDiff diverging_diff(const std::filesystem::path& folder) {
  const auto copy = folder / "diverging.h5";
  const From wrong(golden_trace("kjv-hf-f32"), "genesis", "layers.03.gate_proj");
  copy_trace(golden_trace("kjv-hf-f32"), copy, {}, [&](const std::string& site, Array& values) {
    if (wrong(site)) disturb(values, 1e-3);
    return true;
  });
  const TraceFile bf16(golden_trace("kjv-hf-bf16"));
  return diff::compare_traces(TraceFile(copy), TraceFile(golden_trace("kjv-f64")), &bf16, {});
}

std::string oddly_named_page(const std::filesystem::path& folder) {
  const auto path = folder / "odd.h5";
  const std::string odd = "<img onerror=x>&\"\xff";
  TraceWriter writer(path, {"</script><b>", "bf16", "x", "assay", "f64", "float32", "t", "1", "s", "l"});
  TracePrompt prompt;
  prompt.name = odd;
  prompt.tokens = {1};
  prompt.positions = {0};
  writer.open_prompt(prompt);
  writer.declare({odd, DType::f32, {1}, 0});
  const std::vector<float> one{1.0F};
  writer.append(odd, std::span(one));
  writer.commit();
  return diff::diff_html(diff::compare_traces(TraceFile(path), TraceFile(path), nullptr, {}));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

}  // namespace assay
