#include "tests/plan_support.h"

#include <map>

namespace assay {

ModelConfig small_config() {
  ModelConfig config;
  config.name = "small";
  config.layers = 3;
  config.hidden = 512;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 128;
  config.ffn = 768;
  config.vocab = 1000;
  config.max_positions = 5000;
  config.rms_eps = 1e-6;
  config.rope_theta = 1e6;
  config.tied = true;
  return config;
}

PaperModel::PaperModel(const ModelConfig& config, const TypeOf& type_of) : config_(config) {
  std::vector<StoredTensor> tensors;
  const auto add = [&](Role role, std::int64_t layer) {
    const auto [rows, cols] = role_shape(role, config);
    std::vector<std::int64_t> shape{rows, cols};
    if (is_norm(role)) shape.erase(shape.begin());
    tensors.push_back({gguf_tensor_name(role, layer), type_of(role, layer), shape, {}, 0, "paper.gguf"});
  };
  for (int i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    if (role == Role::lm_head && config.tied) continue;
    for (std::int64_t layer = 0; layer < (is_per_layer(role) ? config.layers : 1); ++layer)
      add(role, is_per_layer(role) ? layer : -1);
  }
  weights_ = std::make_unique<WeightMap>(config, tensors, WeightSource::gguf, "paper.gguf");
}

TypeOf all_of(DType matrices) {
  return [matrices](Role role, std::int64_t) { return is_norm(role) ? DType::f32 : matrices; };
}

TypeOf motley() {
  return [](Role role, std::int64_t layer) {
    static const std::map<Role, DType> kTypes{
        {Role::embed, DType::q5_0},   {Role::q_proj, DType::q8_0},    {Role::k_proj, DType::q4_k},
        {Role::v_proj, DType::f16},   {Role::o_proj, DType::q5_0},    {Role::gate_proj, DType::q5_k},
        {Role::up_proj, DType::q4_0}, {Role::down_proj, DType::q6_k}, {Role::lm_head, DType::q8_0}};
    if (is_norm(role)) return layer % 2 == 0 ? DType::f32 : DType::f16;
    return kTypes.at(role);
  };
}

std::vector<NamedPlan> plans_of_all_kinds() {
  const std::map<std::string, TypeOf> types{
      {"bf16", all_of(DType::bf16)}, {"q8_0", all_of(DType::q8_0)}, {"q4_k", all_of(DType::q4_k)}, {"motley", motley()}};
  std::vector<NamedPlan> plans;
  for (const auto& [name, type_of] : types) {
    for (const bool tied : {true, false}) {
      for (const std::int64_t chunk : {1, 5, 512}) {
        ModelConfig config = small_config();
        config.tied = tied;
        PlanOptions options;
        options.chunk = chunk;
        options.all_logits = chunk == 5;
        auto model = std::make_unique<PaperModel>(config, type_of);
        Plan plan = model->plan(options);
        plans.push_back(
            {name + (tied ? " tied, chunk " : ", chunk ") + std::to_string(chunk), std::move(model), std::move(plan)});
      }
    }
  }
  return plans;
}

}  // namespace assay
