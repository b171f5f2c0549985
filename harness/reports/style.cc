#include "harness/reports/style.h"

#include <unistd.h>

#include <cstdlib>

namespace assay {
namespace {

// Characters that take a column: escapes and UTF-8 continuation bytes take none.
std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++columns;
    }
  }
  return columns;
}

}  // namespace

Style Style::from_mode(std::string_view mode) {
  if (mode == "always") return Style(true);
  if (mode == "never") return Style(false);
  const char* no_color = std::getenv("NO_COLOR");
  return Style((no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1);
}

std::string Style::paint(std::string_view code, std::string_view text) const {
  if (!colour_) return std::string(text);
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::string Table::render(const Style& style) const {
  std::vector<std::size_t> widths(rows_.front().size());
  std::vector<bool> right(rows_.front().size());
  for (std::size_t c = 0; c < widths.size(); ++c) right[c] = rows_.front()[c].starts_with('>');
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], width(row[c]) - (&row == &rows_.front() && right[c] ? 1 : 0));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    const bool head = &row == &rows_.front();
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string cell = head && right[c] ? row[c].substr(1) : row[c];
      const std::string pad(widths[c] - width(cell), ' ');
      line += (c == 0 ? "" : "  ") + (right[c] ? pad + cell : cell + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (head ? style.strong(line) : line) + "\n";
  }
  return out;
}

}  // namespace assay
