#include "harness/reports/style.h"

#include <unistd.h>

#include <algorithm>
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
  return Style((no_color == nullptr || *no_color == '\0') && is_terminal(STDOUT_FILENO));
}

bool is_terminal(int descriptor) {
  const char* const kind = std::getenv("TERM");
  return isatty(descriptor) == 1 && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

std::string Style::paint(std::string_view code, std::string_view text) const {
  if (!colour_) return std::string(text);
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::string row_of(const std::vector<TableColumn>& columns, const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::size_t taken = width(cells[c]);
    const std::string pad(std::max(columns[c].width, taken) - taken, ' ');
    line += (c == 0 ? "" : "  ") + (columns[c].right ? pad + cells[c] : cells[c] + pad);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Table::render(const Style& style) const {
  std::vector<std::string> head = rows_.front();
  std::vector<TableColumn> columns(head.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].right = head[c].starts_with('>');
    if (columns[c].right) head[c].erase(0, 1);
    columns[c].width = width(head[c]);
    for (std::size_t r = 1; r < rows_.size(); ++r) columns[c].width = std::max(columns[c].width, width(rows_[r][c]));
  }
  std::string out = style.strong(row_of(columns, head)) + "\n";
  for (std::size_t r = 1; r < rows_.size(); ++r) out += row_of(columns, rows_[r]) + "\n";
  return out;
}

}  // namespace assay
