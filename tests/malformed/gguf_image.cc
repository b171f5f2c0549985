#include "tests/malformed/gguf_image.h"

#include <algorithm>
#include <stdexcept>

namespace assay::malformed {
namespace {

constexpr std::uint32_t kTypeF32 = 0;
constexpr std::uint32_t kTypeF16 = 1;
constexpr std::uint32_t kTypeQ8_0 = 8;

std::uint64_t aligned(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

TensorImage vector_f32(const std::string& name, std::uint64_t n) {
  return {name, gguf_string(name), {}, {n}, kTypeF32, {}, n * 4};
}

TensorImage matrix_q8_0(const std::string& name, std::uint64_t cols, std::uint64_t rows) {
  return {name, gguf_string(name), {}, {cols, rows}, kTypeQ8_0, {}, rows * cols / 32 * 34};
}

void add_configuration(GgufImage& image) {
  image.set("general.architecture", text("qwen3"));
  image.set("general.name", text("eight tokens"));
  image.set("qwen3.block_count", scalar<std::uint32_t>(kU32, 2));
  image.set("qwen3.context_length", scalar<std::uint32_t>(kU32, 64));
  image.set("qwen3.embedding_length", scalar<std::uint32_t>(kU32, 32));
  image.set("qwen3.feed_forward_length", scalar<std::uint32_t>(kU32, 64));
  image.set("qwen3.attention.head_count", scalar<std::uint32_t>(kU32, 2));
  image.set("qwen3.attention.head_count_kv", scalar<std::uint32_t>(kU32, 1));
  image.set("qwen3.attention.key_length", scalar<std::uint32_t>(kU32, 16));
  image.set("qwen3.attention.value_length", scalar<std::uint32_t>(kU32, 16));
  image.set("qwen3.attention.layer_norm_rms_epsilon", scalar<float>(kF32, 1e-6F));
  image.set("qwen3.rope.freq_base", scalar<float>(kF32, 1e6F));
}

void add_vocabulary(GgufImage& image) {
  image.set("tokenizer.ggml.model", text("gpt2"));
  image.set("tokenizer.ggml.pre", text("qwen2"));
  image.set("tokenizer.ggml.tokens", strings({"a", "b", "c", "ab", "abc", "[PAD5]", "<|endoftext|>", "<|im_end|>"}));
  Bytes types;
  for (const std::int32_t type : {1, 1, 1, 1, 1, 5, 3, 3}) put(types, type);
  image.set("tokenizer.ggml.token_type", array(kI32, 8, types));
  image.set("tokenizer.ggml.merges", strings({"a b", "ab c"}));
  image.set("tokenizer.ggml.eos_token_id", scalar<std::uint32_t>(kU32, 7));
  image.set("tokenizer.ggml.add_bos_token", scalar<std::uint8_t>(kBool, 0));
}

}  // namespace

Bytes GgufImage::build() const {
  Bytes out = from_text(magic);
  put(out, version);
  put(out, tensor_count.value_or(tensors.size()));
  put(out, entry_count.value_or(entries.size()));
  for (const EntryImage& entry : entries) {
    put_bytes(out, entry.key);
    put_bytes(out, entry.value);
  }
  std::uint64_t next = 0;
  for (const TensorImage& tensor : tensors) {
    put_bytes(out, tensor.name);
    put<std::uint32_t>(out, tensor.rank.value_or(static_cast<std::uint32_t>(tensor.dims.size())));
    for (const std::uint64_t dim : tensor.dims) put(out, dim);
    put(out, tensor.type);
    put(out, tensor.offset.value_or(next));
    next = aligned(next + tensor.size, alignment);
  }
  const std::uint64_t data = aligned(out.size(), alignment);
  out.resize(data);
  // Data that no two tensors share, so that no two files are equal by chance.
  for (std::uint64_t i = 0; i < next; ++i) out.push_back(static_cast<std::uint8_t>(i * 7 + i / 256));
  return out;
}

std::uint64_t GgufImage::offset_of(const std::string& key) const {
  std::uint64_t offset = 24;
  for (const EntryImage& entry : entries) {
    if (entry.label == key) return offset;
    offset += entry.key.size() + entry.value.size();
  }
  throw std::logic_error("no entry " + key);
}

EntryImage& GgufImage::entry(const std::string& key) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&key](const EntryImage& entry) { return entry.label == key; });
  if (found == entries.end()) throw std::logic_error("no entry " + key);
  return *found;
}

TensorImage& GgufImage::tensor(const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&name](const TensorImage& tensor) { return tensor.label == name; });
  if (found == tensors.end()) throw std::logic_error("no tensor " + name);
  return *found;
}

void GgufImage::set(const std::string& key, Bytes value) {
  for (EntryImage& entry : entries) {
    if (entry.label != key) continue;
    entry.value = std::move(value);
    return;
  }
  entries.push_back({key, gguf_string(key), std::move(value)});
}

void GgufImage::erase_entry(const std::string& key) {
  const EntryImage* found = &entry(key);
  entries.erase(entries.begin() + (found - entries.data()));
}

void GgufImage::erase_tensor(const std::string& name) {
  const TensorImage* found = &tensor(name);
  tensors.erase(tensors.begin() + (found - tensors.data()));
}

Bytes text(std::string_view value) {
  Bytes out;
  put<std::uint32_t>(out, kString);
  put_bytes(out, gguf_string(value));
  return out;
}

Bytes strings(const std::vector<std::string>& values) {
  Bytes payload;
  for (const std::string& value : values) put_bytes(payload, gguf_string(value));
  return array(kString, values.size(), payload);
}

Bytes array(ValueType element, std::uint64_t count, const Bytes& payload) {
  Bytes out;
  put<std::uint32_t>(out, kArray);
  put<std::uint32_t>(out, element);
  put(out, count);
  put_bytes(out, payload);
  return out;
}

GgufImage right_gguf() {
  GgufImage image;
  add_configuration(image);
  add_vocabulary(image);
  image.tensors.push_back({"token_embd.weight", gguf_string("token_embd.weight"), {}, {32, 8}, kTypeF16, {}, 32 * 8 * 2});
  for (int layer = 0; layer < 2; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    image.tensors.push_back(vector_f32(block + "attn_norm.weight", 32));
    image.tensors.push_back(matrix_q8_0(block + "attn_q.weight", 32, 32));
    image.tensors.push_back(matrix_q8_0(block + "attn_k.weight", 32, 16));
    image.tensors.push_back(matrix_q8_0(block + "attn_v.weight", 32, 16));
    image.tensors.push_back(vector_f32(block + "attn_q_norm.weight", 16));
    image.tensors.push_back(vector_f32(block + "attn_k_norm.weight", 16));
    image.tensors.push_back(matrix_q8_0(block + "attn_output.weight", 32, 32));
    image.tensors.push_back(vector_f32(block + "ffn_norm.weight", 32));
    image.tensors.push_back(matrix_q8_0(block + "ffn_gate.weight", 32, 64));
    image.tensors.push_back(matrix_q8_0(block + "ffn_up.weight", 32, 64));
    image.tensors.push_back(matrix_q8_0(block + "ffn_down.weight", 64, 32));
  }
  image.tensors.push_back(vector_f32("output_norm.weight", 32));
  return image;
}

Case gguf_case(const std::string& name, const std::string& mechanism, Fault fault, const std::string& mentions,
               const std::function<void(GgufImage&)>& spoil) {
  GgufImage image = right_gguf();
  spoil(image);
  return {"gguf-" + name, mechanism, {{"model.gguf", image.build()}}, fault, "model.gguf", mentions};
}

}  // namespace assay::malformed
