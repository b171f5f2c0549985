#include "harness/verdict/nearest.h"

#include <algorithm>

#include "kernels/edit_distance.h"

namespace assay {

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const auto best = std::min_element(candidates.begin(), candidates.end(), [word](const auto& a, const auto& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
  return best == candidates.end() ? std::string() : *best;
}

std::string unknown_name(std::string_view kind, std::string_view word, const std::vector<std::string>& candidates) {
  std::string message = "unknown " + std::string(kind) + " '" + std::string(word) + "'";
  const std::string best = nearest(word, candidates);
  if (!best.empty()) message += "; the nearest is '" + best + "'";
  return message;
}

}  // namespace assay
