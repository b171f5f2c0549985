// Colours on a terminal, and nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Whether what is written there is seen on a screen that knows colours and can go back in a line: not one with TERM=dumb.
bool is_terminal(int descriptor);

class Style {
 public:
  // `mode` is auto, always or never; auto means: standard output is_terminal() and NO_COLOR is not set.
  static Style from_mode(std::string_view mode);
  static Style plain() { return Style(false); }

  std::string good(std::string_view text) const { return paint("32", text); }
  std::string bad(std::string_view text) const { return paint("1;31", text); }
  std::string warn(std::string_view text) const { return paint("33", text); }
  std::string faint(std::string_view text) const { return paint("2", text); }
  std::string strong(std::string_view text) const { return paint("1", text); }

 private:
  explicit Style(bool colour) : colour_(colour) {}
  std::string paint(std::string_view code, std::string_view text) const;
  bool colour_;
};

// Cells of one row, padded to their columns.
struct TableColumn {
  std::string head;
  std::size_t width = 0;
  bool right = false;
};
std::string row_of(const std::vector<TableColumn>& columns, const std::vector<std::string>& cells);

// Plain text in columns: the first row is the head. Columns whose head starts with '>' are flush right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string render(const Style& style) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace assay
