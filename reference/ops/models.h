// What sizes models in use have: reference/ops/models.inc by column.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay {

// width: heads * head_dim; group: heads of a kv head.
enum class Column : std::uint8_t { hidden, ffn, vocab, heads, kv_heads, head_dim, rot_dim, window, positions, width, group };

struct Model {
  std::int64_t hidden, ffn, vocab, heads, kv_heads, head_dim, rot_dim, window, positions;
  double theta;
  std::string_view source;

  std::int64_t operator[](Column column) const;
};

const std::vector<Model>& models();

// What a projection reads and what it makes.
inline const std::vector<Column> kInputWidths{Column::hidden, Column::ffn, Column::width};
inline const std::vector<Column> kOutputWidths{Column::hidden, Column::ffn, Column::width, Column::vocab};

// The values of these columns, ascending, each once, without zeros.
std::vector<std::int64_t> values_in_use(const std::vector<Column>& columns);

}  // namespace assay
