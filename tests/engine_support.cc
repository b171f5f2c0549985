#include "tests/engine_support.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "engine/convert/known_shapes.h"
#include "engine/convert/quantize.h"
#include "engine/convert/synth.h"
#include "engine/files/gguf_writer.h"
#include "golden/trace.h"

namespace assay {
namespace {

std::filesystem::path golden() {
  return std::filesystem::path(std::getenv("ASSAY_SOURCE_DIR")) / "golden";
}

// Which type the motley model has a matrix in. The norms and q_norm come from any of the files: f32.
std::string motley_type(const std::string& tensor) {
  static const std::map<std::string, std::string> kTypes{{"token_embd", "q5_0"}, {"attn_q", "q8_0"},      {"attn_k", "q4_k"},
                                                         {"attn_v", "f16"},      {"attn_output", "q5_0"}, {"ffn_gate", "q5_k"},
                                                         {"ffn_up", "q4_0"},     {"ffn_down", "q6_k"}};
  const std::string layerless = tensor.starts_with("blk.") ? tensor.substr(tensor.find('.', 4) + 1) : tensor;
  const auto found = kTypes.find(layerless.substr(0, layerless.find('.')));
  return found == kTypes.end() ? "f16" : found->second;
}

void make_motley(const std::filesystem::path& out) {
  std::map<std::string, GgufFile> sources;
  for (const char* const type : {"f16", "f32", "q4_0", "q5_0", "q8_0", "q4_k", "q5_k", "q6_k"})
    sources.emplace(type, test_model(type));
  const auto tensor_in = [&](const std::string& type, const std::string& name) {
    const auto& tensors = sources.at(type).contents().tensors;
    return *std::ranges::find(tensors, name, &StoredTensor::name);
  };
  rewrite_gguf(test_model("f16"), out, [&](const GgufContents& gguf) {
    std::vector<StoredTensor> chosen;
    for (const StoredTensor& tensor : gguf.tensors) chosen.push_back(tensor_in(motley_type(tensor.name), tensor.name));
    chosen.push_back(tensor_in("q8_0", "token_embd.weight"));
    chosen.back().name = "output.weight";
    const auto gate = std::ranges::find(chosen, "blk.3.ffn_gate.weight", &StoredTensor::name);
    *gate = tensor_in("f32", gate->name);
    return chosen;
  });
}

// Matrices whose rows fill no whole group of a packed layout, as far as the type's blocks allow.
struct OddShape {
  std::int64_t hidden, heads, kv_heads, head_dim, ffn;
};

void make_odd(const std::string& type, const std::filesystem::path& out) {
  static const std::map<std::string, OddShape> kShapes{
      {"f16", {90, 6, 3, 22, 130}}, {"q8_0", {96, 12, 3, 8, 160}}, {"q4_k_m", {256, 32, 1, 8, 256}}};
  const OddShape& shape = kShapes.at(type);
  ModelConfig config = known_shape("qwen3-0.6b");
  config.layers = 3;
  config.hidden = shape.hidden;
  config.heads = shape.heads;
  config.kv_heads = shape.kv_heads;
  config.head_dim = shape.head_dim;
  config.ffn = shape.ffn;
  config.vocab = 4099;
  config.tied = false;
  synthesize({config, &find_target(type), out, 1, 2, {}});
}

std::filesystem::path make(const std::string& name) {
  if (name == "bf16-folder") return committed_models() / "kjv";
  if (name == "q4_k_m-llama.cpp") return committed_models() / "kjv-Q4_K_M.gguf";
  static const TemporaryFolder folder;
  std::filesystem::path out = folder.path() / (name + ".gguf");
  if (name == "motley") {
    make_motley(out);
  } else if (name.starts_with("odd-")) {
    make_odd(name.substr(4), out);
  } else {
    quantize({committed_models() / "kjv", out, &find_target(name), 2, {}});
  }
  return out;
}

}  // namespace

std::filesystem::path committed_models() {
  return golden() / "models";
}

const std::filesystem::path& test_model(const std::string& name) {
  static std::map<std::string, std::filesystem::path> made;
  const auto found = made.find(name);
  return found == made.end() ? made.emplace(name, make(name)).first->second : found->second;
}

void rewrite_gguf(const std::filesystem::path& in, const std::filesystem::path& out,
                  const std::function<std::vector<StoredTensor>(const GgufContents&)>& choose) {
  const GgufFile source(in);
  const std::vector<StoredTensor> tensors = choose(source.contents());
  GgufWriter writer(out);
  for (const GgufValue& value : source.contents().metadata) writer.add_value(value);
  for (const StoredTensor& tensor : tensors) writer.declare(tensor.name, tensor.dtype, tensor.shape);
  writer.begin();
  for (const StoredTensor& tensor : tensors) writer.write(tensor.bytes);
  writer.finish();
}

std::vector<std::int32_t> prompt_tokens(const std::string& prompt, std::size_t count) {
  const TraceFile trace(golden() / "traces" / "kjv-f64.h5");
  std::vector<std::int32_t> tokens = trace.prompt(prompt).tokens;
  if (tokens.size() < count) throw std::out_of_range(prompt + " has " + std::to_string(tokens.size()) + " tokens");
  tokens.resize(count);
  return tokens;
}

std::vector<std::uint32_t> logits_of_all(Engine& engine, std::span<const std::int32_t> tokens, std::size_t chunk,
                                         Observer* observer) {
  std::vector<std::uint32_t> bits;
  for (std::size_t first = 0; first < tokens.size(); first += chunk) {
    engine.feed(tokens.subspan(first, std::min(chunk, tokens.size() - first)), Logits::all, observer);
    std::ranges::transform(engine.logits(), std::back_inserter(bits), [](float x) { return std::bit_cast<std::uint32_t>(x); });
  }
  return bits;
}

std::vector<Isa> isas_here() {
  std::vector<Isa> isas;
  for (const IsaRow& row : kIsas) {
    if (isa_selectable(row.isa)) isas.push_back(row.isa);
  }
  return isas;
}

}  // namespace assay
