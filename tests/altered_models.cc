#include "tests/altered_models.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "engine/model/model_file.h"
#include "tests/temporary.h"

namespace assay {
namespace {

constexpr std::int64_t kLayer = 2;
constexpr std::int64_t kNormIndex = 37;
constexpr double kTheta = 250000;
constexpr double kEps = 1e-5;
constexpr std::int64_t kRow = 100;
constexpr std::int64_t kBlock = 1;
constexpr std::int64_t kLowBytes = 128;  // of a q6_k block: the codes' low four bits

using Bytes = std::string;

void write(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

// The only place of `text`.
Bytes::iterator find_once(Bytes& bytes, const std::string& text) {
  const auto found = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  const bool once = found != bytes.end() && std::search(found + 1, bytes.end(), text.begin(), text.end()) == bytes.end();
  if (!once) throw std::logic_error("not there once: " + text);
  return found;
}

void exchange(Bytes& bytes, const std::string& a, const std::string& b) {
  const auto first = find_once(bytes, a);
  const auto second = find_once(bytes, b);
  std::ranges::copy(b, first);
  std::ranges::copy(a, second);
}

// A value of type f32 (6) in GGUF's metadata.
void set_f32(Bytes& bytes, const std::string& key, double value) {
  const auto at = find_once(bytes, key + std::string("\x06\0\0\0", 4)) + std::ssize(key) + 4;
  const auto single = static_cast<float>(value);
  std::memcpy(&*at, &single, sizeof single);
}

// What the two files have alike, found by the loader.
void alter_weights(Bytes& bytes, const WeightMap& weights, const std::string& fault) {
  if (fault == "q_norm_zeroed") {
    const Weight& norm = weights.at(Role::q_norm, kLayer);
    const std::int64_t size = std::ssize(norm.bytes) / norm.cols;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(norm.offset) + kNormIndex * size, size, '\0');
  } else if (fault == "q6_k_block") {
    const Weight& down = weights.at(Role::down_proj, kLayer);
    if (down.dtype != DType::q6_k) throw std::logic_error("layer 2's down_proj is not q6_k");
    const auto block = static_cast<std::int64_t>(dtype_size(DType::q6_k));
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(down.offset) + (kRow * down.cols / 256 + kBlock) * block;
    std::for_each(at, at + kLowBytes, [](char& byte) { byte = static_cast<char>(byte ^ 0x11); });
  }
}

std::filesystem::path alter_folder(const std::filesystem::path& model, const std::filesystem::path& out,
                                   const std::string& fault) {
  std::filesystem::copy(model, out);
  Bytes weights = file_bytes(out / "model.safetensors");
  const std::string attention = "\"model.layers.2.self_attn.";
  if (fault == "kv_exchanged") exchange(weights, attention + "k_proj.weight\"", attention + "v_proj.weight\"");
  alter_weights(weights, ModelFile(model).weights(), fault);
  write(out / "model.safetensors", weights);
  std::ifstream in(out / "config.json");
  nlohmann::json config = nlohmann::json::parse(in);
  if (fault == "theta") config.at("rope_parameters").at("rope_theta") = kTheta;
  if (fault == "eps") config.at("rms_norm_eps") = kEps;
  std::ofstream(out / "config.json") << config.dump(2);
  return out;
}

std::filesystem::path alter_gguf(const std::filesystem::path& model, const std::filesystem::path& out, const std::string& fault) {
  Bytes bytes = file_bytes(model);
  if (fault == "kv_exchanged") exchange(bytes, "blk.2.attn_k.weight", "blk.2.attn_v.weight");
  if (fault == "theta") set_f32(bytes, "qwen3.rope.freq_base", kTheta);
  if (fault == "eps") set_f32(bytes, "qwen3.attention.layer_norm_rms_epsilon", kEps);
  alter_weights(bytes, ModelFile(model).weights(), fault);
  write(out, bytes);
  return out;
}

}  // namespace

std::filesystem::path altered_model(const std::filesystem::path& model, const std::filesystem::path& folder,
                                    const std::string& fault) {
  const std::filesystem::path out = folder / (fault + model.extension().string());
  return std::filesystem::is_directory(model) ? alter_folder(model, out, fault) : alter_gguf(model, out, fault);
}

}  // namespace assay
