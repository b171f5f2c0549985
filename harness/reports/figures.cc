#include "harness/reports/figures.h"

#include <fmt/format.h>

namespace assay {

std::string margin_text(double margin) {
  return margin < 1000 ? fmt::format("{:.3f}", margin) : fmt::format("{:.3g}", margin);
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", count, count == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace assay
