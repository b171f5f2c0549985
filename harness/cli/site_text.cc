#include "harness/cli/site_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "golden/sha256.h"
#include "harness/reports/report.h"
#include "harness/verdict/element_text.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kFirst = 8;

struct Extent {
  double least = HUGE_VAL;
  double most = -HUGE_VAL;
  double rms = 0;
};

Extent extent_of(const Array& values) {
  Extent extent;
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    const double value =
        element_as_double(values.dtype, values.bytes.data() + static_cast<std::size_t>(i) * dtype_size(values.dtype));
    extent.least = std::min(extent.least, value);
    extent.most = std::max(extent.most, value);
    extent.rms += value * value;
  }
  extent.rms = std::sqrt(extent.rms / static_cast<double>(values.elements()));
  return extent;
}

// Of the last row.
std::vector<std::string> first_values(const Array& values) {
  const std::int64_t row = values.elements() / values.shape[0];
  const std::int64_t begin = (values.shape[0] - 1) * row;
  std::vector<std::string> out;
  for (std::int64_t i = begin; i < begin + std::min(kFirst, row); ++i) {
    out.push_back(describe_element(values.dtype, values.bytes.data() + static_cast<std::size_t>(i) * dtype_size(values.dtype)));
  }
  return out;
}

}  // namespace

std::string site_text(const Step& step, const Array& values) {
  std::string text =
      fmt::format("{}  {}  {} [{}]\n", step.site, step.prefill->name, dtype_name(values.dtype), fmt::join(values.shape, ", "));
  if (!is_block(values.dtype)) {
    const Extent extent = extent_of(values);
    text += fmt::format("  from {:.9g} to {:.9g}, RMS {:.9g}\n  last row: {} ...\n", extent.least, extent.most, extent.rms,
                        fmt::join(first_values(values), " "));
  }
  return text + fmt::format("  sha256 {}\n", sha256(values.bytes));
}

nlohmann::ordered_json site_json(const Step& step, const Array& values) {
  nlohmann::ordered_json json = environment_json();
  json.update({{"site", step.site},
               {"op", step.prefill->name},
               {"dtype", dtype_name(values.dtype)},
               {"shape", values.shape},
               {"sha256", sha256(values.bytes)}});
  if (is_block(values.dtype)) return json;
  const Extent extent = extent_of(values);
  json["least"] = extent.least;
  json["most"] = extent.most;
  json["rms"] = extent.rms;
  return json;
}

}  // namespace assay::cli
