// An array's axes by name, and the change from another engine's order of axes to a trace's: [row, feature] or [row, head,
// head_dim].
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Axis : std::uint8_t {
  batch,  // 1, dropped
  token,  // every token of the prompt; the rows of `positions` are picked
  row,    // the kept rows alone
  head,
  dim,  // within a head
  feature,
};

// "batch,head,token,dim", outermost first; each axis once, with one of token and row, and either feature or head and dim.
// Throws std::invalid_argument that says what is wrong.
std::vector<Axis> parse_layout(std::string_view text);
std::string layout_text(std::span<const Axis> axes);

// How the rows of one array lie in it.
struct RowLayout {
  std::vector<std::int64_t> rows;  // indices along the axis of token or row
  std::int64_t first = 0;          // element of a row
  std::int64_t row_stride = 0;     // strides in elements
  std::int64_t heads = 1;
  std::int64_t head_stride = 0;
  std::int64_t width = 0;  // of a head, or of the row where there are no heads
  std::int64_t stride = 1;
};

// `positions`: the kept rows, within the `tokens`. Throws std::invalid_argument where the shape does not have the axes' number,
// the batch is not 1, an axis has no element, or the axis of rows has another length than tokens (token) or positions (row).
RowLayout lay_rows(std::span<const std::int64_t> shape, std::span<const Axis> axes, std::int64_t tokens,
                   std::span<const std::int32_t> positions);

// Leaves of flat rows the columns from `first` to before `end`. Throws std::invalid_argument where there are no such.
void take_columns(RowLayout& layout, std::int64_t first, std::int64_t end);

// The rows, dense: [rows, heads, width]. `element` is an element's size in bytes; `bytes` holds the whole array.
std::vector<std::uint8_t> gather_rows(const RowLayout& layout, std::span<const std::uint8_t> bytes, std::size_t element);

}  // namespace assay
