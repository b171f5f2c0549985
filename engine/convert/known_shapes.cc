#include "engine/convert/known_shapes.h"

#include <array>
#include <stdexcept>

namespace assay {
namespace {

struct Shape {
  std::string_view name;
  std::int64_t layers, hidden, heads, kv_heads, ffn;
  bool tied;
};

constexpr std::array<Shape, 6> kShapes{{{"qwen3-0.6b", 28, 1024, 16, 8, 3072, true},
                                        {"qwen3-1.7b", 28, 2048, 16, 8, 6144, true},
                                        {"qwen3-4b", 36, 2560, 32, 8, 9728, true},
                                        {"qwen3-8b", 36, 4096, 32, 8, 12288, false},
                                        {"qwen3-14b", 40, 5120, 40, 8, 17408, false},
                                        {"qwen3-32b", 64, 5120, 64, 8, 25600, false}}};

}  // namespace

std::vector<std::string_view> known_shapes() {
  std::vector<std::string_view> names;
  for (const Shape& shape : kShapes) names.push_back(shape.name);
  return names;
}

ModelConfig known_shape(std::string_view name) {
  std::string known;
  for (const Shape& shape : kShapes) {
    known.append(known.empty() ? "" : ", ").append(shape.name);
    if (shape.name != name) continue;
    ModelConfig config;
    config.name = name;
    config.layers = shape.layers;
    config.hidden = shape.hidden;
    config.heads = shape.heads;
    config.kv_heads = shape.kv_heads;
    config.head_dim = 128;
    config.ffn = shape.ffn;
    config.vocab = 151936;
    config.max_positions = 40960;
    config.rms_eps = 1e-6;
    config.rope_theta = 1e6;
    config.tied = shape.tied;
    return config;
  }
  throw std::invalid_argument("unknown shape " + std::string(name) + "; expected one of " + known);
}

}  // namespace assay
