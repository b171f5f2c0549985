#include "reference/ops/models.h"

#include <set>

namespace assay {

std::int64_t Model::operator[](Column column) const {
  switch (column) {
    case Column::hidden:
      return hidden;
    case Column::ffn:
      return ffn;
    case Column::vocab:
      return vocab;
    case Column::heads:
      return heads;
    case Column::kv_heads:
      return kv_heads;
    case Column::head_dim:
      return head_dim;
    case Column::rot_dim:
      return rot_dim;
    case Column::window:
      return window;
    case Column::positions:
      return positions;
    case Column::width:
      return heads * head_dim;
    case Column::group:
      return heads / kv_heads;
  }
  return 0;
}

const std::vector<Model>& models() {
  static const std::vector<Model> all{
#define ASSAY_MODEL(...) Model{__VA_ARGS__},
#include "reference/ops/models.inc"
  };
  return all;
}

std::vector<std::int64_t> values_in_use(const std::vector<Column>& columns) {
  std::set<std::int64_t> values;
  for (const Model& model : models()) {
    for (const Column column : columns) values.insert(model[column]);
  }
  values.erase(0);
  return {values.begin(), values.end()};
}

}  // namespace assay
