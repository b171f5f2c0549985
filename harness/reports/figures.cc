#include "harness/reports/figures.h"

#include <fmt/format.h>

namespace assay {

std::string margin_text(double margin) {
  return margin < 1000 ? fmt::format("{:.3f}", margin) : fmt::format("{:.3g}", margin);
}

}  // namespace assay
