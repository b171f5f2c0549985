#include "engine/model/weights.h"

#include <map>
#include <stdexcept>

#include "engine/files/file_error.h"

namespace assay {
namespace {

constexpr int kRolesOfLayer = static_cast<int>(Role::down_proj) - static_cast<int>(Role::attn_norm) + 1;

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t dim : shape) text.append(text.size() > 1 ? ", " : "").append(std::to_string(dim));
  return text + "]";
}

// Takes the expected tensors out of a list, one by one; what is left was not expected.
class Taker {
 public:
  Taker(const ModelConfig& config, std::span<const StoredTensor> tensors, WeightSource source, const std::string& file)
      : config_(config), source_(source), file_(file) {
    for (const StoredTensor& tensor : tensors) left_.emplace(tensor.name, &tensor);
  }

  bool has(Role role) const { return left_.contains(name_of(role, -1)); }

  Weight take(Role role, std::int64_t layer) {
    const std::string name = name_of(role, layer);
    const auto found = left_.find(name);
    if (found == left_.end()) throw ModelFileError(Fault::missing_tensor, {file_, {}, "tensor " + shown(name)}, "it is missing");
    const StoredTensor& tensor = *found->second;
    left_.erase(found);
    check(tensor, role);
    const auto [rows, cols] = role_shape(role, config_);
    return {role, layer, site_of(role, layer), tensor.name, tensor.dtype, rows, cols, tensor.bytes, tensor.file, tensor.offset};
  }

  void check_nothing_left() const {
    if (left_.empty()) return;
    const StoredTensor& tensor = *left_.begin()->second;
    std::string why = "not a tensor of this model";
    if (tensor.name.ends_with(".bias")) why += " (biases are not computed)";
    if (tensor.name.find("exp") != std::string::npos) why += " (a mixture of experts is not computed)";
    throw ModelFileError(Fault::unexpected_tensor, {tensor.file, tensor.offset, "tensor " + shown(tensor.name)}, why);
  }

 private:
  std::string name_of(Role role, std::int64_t layer) const {
    return source_ == WeightSource::gguf ? gguf_tensor_name(role, layer) : hf_tensor_name(role, layer);
  }

  void check(const StoredTensor& tensor, Role role) const {
    const Where where{tensor.file, tensor.offset, "tensor " + shown(tensor.name)};
    const auto [rows, cols] = role_shape(role, config_);
    std::vector<std::int64_t> expected{rows, cols};
    if (is_norm(role)) expected.erase(expected.begin());
    if (tensor.shape != expected) {
      throw ModelFileError(Fault::tensor_shape, where,
                           "shape " + shape_text(tensor.shape) + "; the configuration asks for " + shape_text(expected));
    }
    if (is_float(tensor.dtype) || (is_block(tensor.dtype) && !is_norm(role))) return;
    throw ModelFileError(Fault::tensor_type, where,
                         std::string(dtype_name(tensor.dtype)) + "; expected f32, f16 or bf16" +
                             (is_norm(role) ? " for a norm" : " or a block format"));
  }

  const ModelConfig& config_;
  WeightSource source_;
  const std::string& file_;
  std::map<std::string, const StoredTensor*, std::less<>> left_;
};

}  // namespace

WeightMap::WeightMap(const ModelConfig& config, std::span<const StoredTensor> tensors, WeightSource source,
                     const std::string& file)
    : layers_(config.layers), tied_(config.tied) {
  Taker taker(config, tensors, source, file);
  weights_.push_back(taker.take(Role::embed, -1));
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    for (int i = 0; i < kRolesOfLayer; ++i) {
      weights_.push_back(taker.take(static_cast<Role>(static_cast<int>(Role::attn_norm) + i), layer));
    }
  }
  weights_.push_back(taker.take(Role::final_norm, -1));
  if (!tied_) weights_.push_back(taker.take(Role::lm_head, -1));
  if (tied_ && source == WeightSource::hugging_face && taker.has(Role::lm_head)) {
    surplus_.push_back(taker.take(Role::lm_head, -1));
  }
  taker.check_nothing_left();
}

const Weight& WeightMap::at(Role role, std::int64_t layer) const {
  const auto absent = [&] { return std::out_of_range("the model has no weight " + site_of(role, layer)); };
  if (role == Role::embed) return weights_.front();
  const auto behind_layers = static_cast<std::size_t>(1 + layers_ * kRolesOfLayer);
  if (role == Role::final_norm) return weights_[behind_layers];
  if (role == Role::lm_head) {
    if (tied_) throw absent();
    return weights_[behind_layers + 1];
  }
  if (layer < 0 || layer >= layers_) throw absent();
  const int within = static_cast<int>(role) - static_cast<int>(Role::attn_norm);
  return weights_[static_cast<std::size_t>(1 + layer * kRolesOfLayer + within)];
}

const Weight& WeightMap::lm_head() const {
  return tied_ ? weights_.front() : at(Role::lm_head);
}

}  // namespace assay
