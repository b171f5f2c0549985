#include "harness/plan_c/wrapped.h"

namespace assay {
namespace {

constexpr std::size_t kColumns = 130;

}  // namespace

std::string wrapped(const std::string& begin, const std::vector<std::string>& pieces, const std::string& end,
                    const std::string& indent) {
  std::string text;
  std::string line = begin;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string piece = pieces[i] + (i + 1 == pieces.size() ? end : ",");
    if (line.size() + 1 + piece.size() > kColumns) {
      text += line + "\n";
      line = indent;
    } else if (i > 0) {
      line += " ";
    }
    line += piece;
  }
  return text + line + "\n";
}

}  // namespace assay
