#include "harness/interop/import/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "harness/verdict/nearest.h"

namespace assay {
namespace {

// In the order of Axis.
constexpr std::array<std::string_view, 6> kNames{"batch", "token", "row", "head", "dim", "feature"};

[[noreturn]] void fail(const std::string& why) {
  throw std::invalid_argument(why);
}

Axis axis_of(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    fail(fmt::format("{}; an axis is {}", unknown_name("axis", name, {kNames.begin(), kNames.end()}), fmt::join(kNames, ", ")));
  }
  return static_cast<Axis>(found - kNames.begin());
}

bool has(std::span<const Axis> axes, Axis axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

struct Extent {
  std::int64_t length = 1;
  std::int64_t stride = 0;
};

std::optional<Extent> find_extent(std::span<const std::int64_t> shape, std::span<const Axis> axes, Axis axis) {
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0; stride *= shape[i]) {
    if (axes[i] == axis) return Extent{shape[i], stride};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Axis> parse_layout(std::string_view text) {
  std::vector<Axis> axes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const Axis axis = axis_of(text.substr(begin, end - begin));
    if (has(axes, axis)) fail(fmt::format("layout '{}' has the axis {} twice", text, kNames[static_cast<std::size_t>(axis)]));
    axes.push_back(axis);
    begin = end + 1;
  }
  if (has(axes, Axis::token) == has(axes, Axis::row)) fail(fmt::format("layout '{}' needs one of token and row", text));
  const bool by_head = has(axes, Axis::head) && has(axes, Axis::dim);
  if (has(axes, Axis::head) != has(axes, Axis::dim) || by_head == has(axes, Axis::feature)) {
    fail(fmt::format("layout '{}' needs either feature or head and dim", text));
  }
  return axes;
}

std::string layout_text(std::span<const Axis> axes) {
  std::string text;
  for (const Axis axis : axes) text.append(text.empty() ? "" : ",").append(kNames[static_cast<std::size_t>(axis)]);
  return text;
}

RowLayout lay_rows(std::span<const std::int64_t> shape, std::span<const Axis> axes, std::int64_t tokens,
                   std::span<const std::int32_t> positions) {
  const std::string what = fmt::format("shape [{}] as {}", fmt::join(shape, ", "), layout_text(axes));
  if (shape.size() != axes.size()) fail(fmt::format("{}: {} axes; the layout has {}", what, shape.size(), axes.size()));
  if (std::ranges::find(shape, 0) != shape.end()) fail(what + ": an axis without elements");
  const auto batch = find_extent(shape, axes, Axis::batch);
  if (batch && batch->length != 1) fail(fmt::format("{}: a batch of {}; expected 1", what, batch->length));
  RowLayout out;
  if (const auto all = find_extent(shape, axes, Axis::token)) {
    if (all->length != tokens) fail(fmt::format("{}: {} tokens; the prompt has {}", what, all->length, tokens));
    out.rows.assign(positions.begin(), positions.end());
    out.row_stride = all->stride;
  } else {
    const Extent kept = *find_extent(shape, axes, Axis::row);
    if (kept.length != std::ssize(positions)) {
      fail(fmt::format("{}: {} rows; {} positions are kept", what, kept.length, positions.size()));
    }
    for (std::int64_t row = 0; row < kept.length; ++row) out.rows.push_back(row);
    out.row_stride = kept.stride;
  }
  if (const auto heads = find_extent(shape, axes, Axis::head)) {
    out.heads = heads->length;
    out.head_stride = heads->stride;
  }
  const Extent within = *find_extent(shape, axes, has(axes, Axis::feature) ? Axis::feature : Axis::dim);
  out.width = within.length;
  out.stride = within.stride;
  return out;
}

void take_columns(RowLayout& layout, std::int64_t first, std::int64_t end) {
  if (layout.head_stride != 0) fail("columns are of flat rows; the layout has heads");
  if (first < 0 || first >= end || end > layout.width)
    fail(fmt::format("columns {} to {}; a row has {}", first, end, layout.width));
  layout.first += first * layout.stride;
  layout.width = end - first;
}

std::vector<std::uint8_t> gather_rows(const RowLayout& layout, std::span<const std::uint8_t> bytes, std::size_t element) {
  const auto width = static_cast<std::size_t>(layout.width);
  std::vector<std::uint8_t> out(layout.rows.size() * static_cast<std::size_t>(layout.heads) * width * element);
  std::uint8_t* to = out.data();
  for (const std::int64_t row : layout.rows) {
    for (std::int64_t head = 0; head < layout.heads; ++head) {
      const auto start = static_cast<std::size_t>(layout.first + row * layout.row_stride + head * layout.head_stride);
      if (layout.stride == 1) {
        std::memcpy(to, bytes.subspan(start * element, width * element).data(), width * element);
        to += width * element;
        continue;
      }
      for (std::size_t i = 0; i < width; ++i, to += element) {
        std::memcpy(to, bytes.data() + (start + i * static_cast<std::size_t>(layout.stride)) * element, element);
      }
    }
  }
  return out;
}

}  // namespace assay
