// A model's weights by role and layer, checked against its configuration.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/files/stored_tensor.h"
#include "engine/model/roles.h"

namespace assay {

struct Weight {
  Role role = Role::embed;
  std::int64_t layer = -1;  // -1: one in the model
  std::string site;         // "layers.07.q_proj"
  std::string name;         // in its file
  DType dtype = DType::f32;
  std::int64_t rows = 0;                // 1 for a norm
  std::int64_t cols = 0;                // in numbers: whole blocks where dtype is a block type
  std::span<const std::uint8_t> bytes;  // rows * cols numbers, row-major, in the mapped file
  std::string file;
  std::uint64_t offset = 0;  // of the bytes in that file
};

enum class WeightSource : std::uint8_t { gguf, hugging_face };

class WeightMap {
 public:
  // Each tensor that the configuration asks for must be there with its shape and a type that is fit for it (norms f32, f16 or
  // bf16), and no other. Throws ModelFileError: missing-tensor, unexpected-tensor, tensor-shape, tensor-type. `file` names the
  // source where a tensor is missing. Some Hugging Face files of tied models hold lm_head.weight a second time: that one
  // is checked like the embedding and left out, as transformers does; surplus_head() says that it was there.
  WeightMap(const ModelConfig& config, std::span<const StoredTensor> tensors, WeightSource source, const std::string& file);

  const Weight& at(Role role, std::int64_t layer = -1) const;  // std::out_of_range if the model has none
  const Weight& lm_head() const;                               // the embedding if it is tied

  // embed; the layers in order, each in the order of Role; final_norm; lm_head unless tied.
  const std::vector<Weight>& all() const { return weights_; }
  const std::vector<Weight>& surplus_head() const { return surplus_; }  // none or one; its bytes ought to be the embedding's

 private:
  std::vector<Weight> weights_;
  std::vector<Weight> surplus_;
  std::int64_t layers_;
  bool tied_;
};

}  // namespace assay
