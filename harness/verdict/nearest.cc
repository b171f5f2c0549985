#include "harness/verdict/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace assay {
namespace {

// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

bool is_near(std::string_view word, std::string_view candidate) {
  return edit_distance(word, candidate) <= (word.size() + 2) / 3;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const auto best = std::min_element(candidates.begin(), candidates.end(), [word](const auto& a, const auto& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
  return best == candidates.end() ? std::string() : *best;
}

std::string unknown_name(std::string_view kind, std::string_view word, const std::vector<std::string>& candidates) {
  std::string message = "unknown " + std::string(kind) + " '" + std::string(word) + "'";
  const std::string best = nearest(word, candidates);
  if (!best.empty() && is_near(word, best)) return message + "; the nearest is '" + best + "'";
  constexpr std::size_t kFew = 24;
  if (candidates.size() > kFew) return message;
  for (const std::string& one : candidates) message += (&one == candidates.data() ? "; expected one of " : ", ") + one;
  return message;
}

}  // namespace assay
