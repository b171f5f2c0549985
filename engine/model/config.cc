#include "engine/model/config.h"

namespace assay {

void check_config(const ModelConfig& config, const ConfigKeys& keys, const std::string& file) {
  const auto fail = [&file](const std::string& key, const std::string& why) {
    throw ModelFileError(Fault::key_value, {file, {}, "key " + shown(key)}, why);
  };
  if (config.heads % config.kv_heads != 0) {
    fail(keys.heads,
         std::to_string(config.heads) + " heads; expected a multiple of the " + std::to_string(config.kv_heads) + " kv heads");
  }
  if (config.head_dim % 2 != 0)
    fail(keys.head_dim, std::to_string(config.head_dim) + "; expected an even number (rope turns pairs)");
  // Negated, so that NaN fails.
  if (!(config.rms_eps > 0 && config.rms_eps < 1)) fail(keys.rms_eps, std::to_string(config.rms_eps) + "; expected 0 < eps < 1");
  if (!(config.rope_theta >= 1 && config.rope_theta <= 1e15)) {
    fail(keys.rope_theta, std::to_string(config.rope_theta) + "; expected 1 to 1e15");
  }
}

}  // namespace assay
