#include "engine/run/site_rows.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace assay {

void append_row(const RowsView& view, std::int64_t row, std::vector<std::uint8_t>& out) {
  const std::int64_t elements = std::accumulate(view.shape.begin(), view.shape.end(), std::int64_t{1}, std::multiplies());
  const std::uint8_t* const first = view.data + row * view.row_stride;
  out.insert(out.end(), first, first + elements * static_cast<std::int64_t>(dtype_size(view.dtype)));
}

SiteRows::SiteRows(std::vector<std::int32_t> positions, std::function<bool(const std::string& site)> wanted)
    : positions_(std::move(positions)), wanted_(std::move(wanted)) {}

bool SiteRows::wants(const Step& step) const {
  return !wanted_ || wanted_(step.site);
}

void SiteRows::after(const StepRun& run) {
  const RowsView& view = run.outputs[0];
  const auto [found, fresh] = sites_.try_emplace(run.step().site);
  Array& array = found->second;
  if (fresh) {
    array.dtype = view.dtype;
    array.shape = view.shape;
    array.shape.insert(array.shape.begin(), 0);
  }
  for (std::int64_t row = 0; row < run.rows; ++row) {
    if (!positions_.empty() && !std::ranges::binary_search(positions_, static_cast<std::int32_t>(run.position + row))) continue;
    append_row(view, row, array.bytes);
    ++array.shape[0];
  }
}

const Array& SiteRows::at(const std::string& site) const {
  const auto found = sites_.find(site);
  if (found == sites_.end()) throw std::out_of_range("no rows of site " + site);
  return found->second;
}

}  // namespace assay
