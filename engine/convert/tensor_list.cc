#include "engine/convert/tensor_list.h"

#include <algorithm>
#include <tuple>

#include "engine/files/file_error.h"

namespace assay {

std::vector<std::int64_t> ListedTensor::shape() const {
  if (is_norm(role)) return {cols};
  return {rows, cols};
}

std::vector<ListedTensor> list_tensors(const ModelConfig& config, const Target& target, const std::string& file) {
  std::vector<ListedTensor> list;
  for (int number = 0; number < kRoles; ++number) {
    const auto role = static_cast<Role>(number);
    if (role == Role::lm_head && config.tied) continue;
    const auto [rows, cols] = role_shape(role, config);
    const std::int64_t first = is_per_layer(role) ? 0 : -1;
    const std::int64_t end = is_per_layer(role) ? config.layers : 0;
    for (std::int64_t layer = first; layer < end; ++layer) {
      const DType dtype = target_type(target, role, layer, config.layers, config.tied);
      list.push_back({role, layer, gguf_tensor_name(role, layer), rows, cols, dtype});
      if (cols % dtype_numbers(dtype) == 0) continue;
      throw ModelFileError(Fault::block_shape, {file, {}, "tensor " + shown(list.back().name)},
                           "rows of " + std::to_string(cols) + " numbers; " + std::string(dtype_name(dtype)) +
                               " asks for a multiple of " + std::to_string(dtype_numbers(dtype)));
    }
  }
  std::sort(list.begin(), list.end(),
            [](const ListedTensor& a, const ListedTensor& b) { return std::tie(a.layer, a.name) < std::tie(b.layer, b.name); });
  return list;
}

}  // namespace assay
