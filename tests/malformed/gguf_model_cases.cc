// Files that are GGUF, and no model that the engine computes: architecture, configuration, features, tensors.
#include <cmath>
#include <limits>

#include "tests/malformed/gguf_image.h"

namespace assay::malformed {
namespace {

std::string key_subject(const std::string& key) {
  return "key '" + key + "'";
}

Case with_value(const std::string& name, const std::string& mechanism, Fault fault, const std::string& key, const Bytes& value) {
  return gguf_case(name, mechanism, fault, key_subject(key), [&](GgufImage& image) { image.set(key, value); });
}

void add_architectures(std::vector<Case>& cases) {
  for (const char* architecture : {"", "llama", "qwen2", "qwen3moe", "qwen3vl", "qwen3next", "clip", "QWEN3"}) {
    cases.push_back(with_value("architecture-" + std::string(architecture), "another architecture computed as this one",
                               Fault::architecture, "general.architecture", text(architecture)));
  }
  cases.push_back(with_value("architecture-number", "a number read as a string", Fault::key_type, "general.architecture",
                             scalar<std::uint32_t>(kU32, 3)));
}

void add_keys(std::vector<Case>& cases) {
  for (const char* key :
       {"general.architecture", "qwen3.block_count", "qwen3.context_length", "qwen3.embedding_length",
        "qwen3.feed_forward_length", "qwen3.attention.head_count", "qwen3.attention.head_count_kv", "qwen3.attention.key_length",
        "qwen3.attention.value_length", "qwen3.attention.layer_norm_rms_epsilon", "qwen3.rope.freq_base", "tokenizer.ggml.tokens",
        "tokenizer.ggml.token_type", "tokenizer.ggml.merges", "tokenizer.ggml.model", "tokenizer.ggml.pre"}) {
    cases.push_back(gguf_case(std::string("missing-") + key, "a default in place of what the file must say", Fault::missing_key,
                              key_subject(key), [key](GgufImage& image) { image.erase_entry(key); }));
    cases.push_back(with_value(std::string("type-of-") + key, "a value read as another type", Fault::key_type, key,
                               scalar<std::uint8_t>(kBool, 1)));
  }
  Bytes heads;
  put<std::uint32_t>(heads, 2);
  put<std::uint32_t>(heads, 2);
  cases.push_back(with_value("heads-per-layer", "an array read as its first element", Fault::key_type,
                             "qwen3.attention.head_count", array(kU32, 2, heads)));
}

void add_integers(std::vector<Case>& cases) {
  for (const char* key : {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count",
                          "attention.head_count_kv", "attention.key_length"}) {
    const std::string full = std::string("qwen3.") + key;
    cases.push_back(with_value("zero-" + full, "a division by zero, or a model of nothing", Fault::key_value, full,
                               scalar<std::uint32_t>(kU32, 0)));
    cases.push_back(with_value("huge-" + full, "sizes that wrap, allocations on a number's word", Fault::key_value, full,
                               scalar<std::uint32_t>(kU32, 0xffffffff)));
    cases.push_back(with_value("negative-" + full, "a negative number read as a size", Fault::key_value, full,
                               scalar<std::int64_t>(kI64, -1)));
  }
  cases.push_back(with_value("huge-u64-block-count", "a number cut to 32 bits", Fault::key_value, "qwen3.block_count",
                             scalar<std::uint64_t>(kU64, (std::uint64_t{1} << 63) + 2)));
  const std::string inconsistent = "numbers that do not fit together";
  cases.push_back(with_value("more-kv-heads-than-heads", inconsistent, Fault::key_value, "qwen3.attention.head_count_kv",
                             scalar<std::uint32_t>(kU32, 4)));
  cases.push_back(gguf_case("heads-in-broken-groups", inconsistent, Fault::key_value, key_subject("qwen3.attention.head_count"),
                            [](GgufImage& image) {
                              image.set("qwen3.attention.head_count", scalar<std::uint32_t>(kU32, 3));
                              image.set("qwen3.attention.head_count_kv", scalar<std::uint32_t>(kU32, 2));
                            }));
  cases.push_back(gguf_case("head-dimension-odd", inconsistent, Fault::key_value, key_subject("qwen3.attention.key_length"),
                            [](GgufImage& image) {
                              image.set("qwen3.attention.key_length", scalar<std::uint32_t>(kU32, 15));
                              image.set("qwen3.attention.value_length", scalar<std::uint32_t>(kU32, 15));
                            }));
  for (const char* key : {"qwen3.attention.value_length", "qwen3.rope.dimension_count", "qwen3.vocab_size"}) {
    cases.push_back(
        with_value(std::string("disagrees-") + key, inconsistent, Fault::key_value, key, scalar<std::uint32_t>(kU32, 4)));
  }
}

void add_reals(std::vector<Case>& cases) {
  const float infinite = std::numeric_limits<float>::infinity();
  const std::string mechanism = "a constant that makes every activation infinite or NaN";
  int number = 0;
  for (const float eps : {0.0F, -1e-6F, 1.0F, infinite, std::numeric_limits<float>::quiet_NaN()}) {
    cases.push_back(gguf_case(
        "rms-eps-" + std::to_string(number++), mechanism, Fault::key_value, key_subject("qwen3.attention.layer_norm_rms_epsilon"),
        [eps](GgufImage& image) { image.set("qwen3.attention.layer_norm_rms_epsilon", scalar(kF32, eps)); }));
  }
  for (const float theta : {0.0F, -1e6F, 0.5F, infinite, std::numeric_limits<float>::quiet_NaN()}) {
    cases.push_back(gguf_case("rope-theta-" + std::to_string(number++), mechanism, Fault::key_value,
                              key_subject("qwen3.rope.freq_base"),
                              [theta](GgufImage& image) { image.set("qwen3.rope.freq_base", scalar(kF32, theta)); }));
  }
}

void add_features(std::vector<Case>& cases) {
  const std::string mechanism = "a feature that is ignored and changes every answer";
  const auto add = [&](const std::string& name, const std::string& key, const Bytes& value) {
    cases.push_back(with_value("feature-" + name, mechanism, Fault::feature, key, value));
  };
  add("yarn", "qwen3.rope.scaling.type", text("yarn"));
  add("linear", "qwen3.rope.scaling.type", text("linear"));
  add("rope-factor", "qwen3.rope.scaling.factor", scalar<float>(kF32, 4));
  add("experts", "qwen3.expert_count", scalar<std::uint32_t>(kU32, 128));
  add("sliding-window", "qwen3.attention.sliding_window", scalar<std::uint32_t>(kU32, 4096));
  add("pooling", "qwen3.pooling_type", scalar<std::uint32_t>(kU32, 3));
  add("logit-scale", "qwen3.logit_scale", scalar<float>(kF32, 0.5F));
  add("adapter", "general.type", text("adapter"));
  add("split", "split.count", scalar<std::uint16_t>(kU16, 2));
  add("sentencepiece", "tokenizer.ggml.model", text("llama"));
  add("other-pre-tokenizer", "tokenizer.ggml.pre", text("llama-bpe"));
}

void add_tensors(std::vector<Case>& cases) {
  for (const char* name :
       {"token_embd.weight", "output_norm.weight", "blk.1.attn_norm.weight", "blk.1.attn_q.weight", "blk.1.attn_k.weight",
        "blk.1.attn_v.weight", "blk.1.attn_q_norm.weight", "blk.1.attn_k_norm.weight", "blk.1.attn_output.weight",
        "blk.1.ffn_norm.weight", "blk.1.ffn_gate.weight", "blk.1.ffn_up.weight", "blk.1.ffn_down.weight"}) {
    const std::string subject = "tensor '" + std::string(name) + "'";
    cases.push_back(gguf_case("missing-tensor-" + std::string(name), "a weight that stays uninitialised", Fault::missing_tensor,
                              subject, [name](GgufImage& image) { image.erase_tensor(name); }));
    cases.push_back(gguf_case("shape-of-" + std::string(name), "a weight read beyond its rows (CVE-2026-7482)",
                              Fault::tensor_shape, subject, [name](GgufImage& image) {
                                TensorImage& tensor = image.tensor(name);
                                tensor.dims.back() *= 2;
                                tensor.size *= 2;
                              }));
  }
  for (const char* name : {"blk.0.attn_q.bias", "blk.0.ffn_gate_inp.weight", "blk.0.ffn_up_exps.weight", "blk.2.attn_norm.weight",
                           "rope_freqs.weight", "blk.00.attn_norm.weight", "v.patch_embd.weight"}) {
    cases.push_back(gguf_case("unexpected-tensor-" + std::string(name), "a weight that is ignored and changes every answer",
                              Fault::unexpected_tensor, "tensor '" + std::string(name) + "'", [name](GgufImage& image) {
                                image.tensors.push_back({name, gguf_string(name), {}, {32}, 0, {}, 128});
                              }));
  }
  cases.push_back(gguf_case("shape-transposed", "rows and columns swapped", Fault::tensor_shape, "tensor 'blk.0.ffn_up.weight'",
                            [](GgufImage& image) {
                              image.tensor("blk.0.ffn_up.weight").dims = {64, 32};
                            }));
  cases.push_back(gguf_case("shape-flat", "a matrix as a vector of as many bytes", Fault::tensor_shape,
                            "tensor 'blk.0.ffn_up.weight'",
                            [](GgufImage& image) { image.tensor("blk.0.ffn_up.weight").dims = {64 * 32}; }));
  cases.push_back(gguf_case("norm-quantised", "a norm in blocks read as f32", Fault::tensor_type,
                            "tensor 'blk.0.attn_norm.weight'", [](GgufImage& image) {
                              image.tensor("blk.0.attn_norm.weight").type = 8;
                              image.tensor("blk.0.attn_norm.weight").size = 34;
                            }));
}

}  // namespace

void add_gguf_model_cases(std::vector<Case>& cases) {
  add_architectures(cases);
  add_keys(cases);
  add_integers(cases);
  add_reals(cases);
  add_features(cases);
  add_tensors(cases);
}

}  // namespace assay::malformed
