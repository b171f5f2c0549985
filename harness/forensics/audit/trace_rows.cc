#include "harness/forensics/audit/trace_rows.h"

#include <algorithm>

namespace assay {

RowMatrix matrix_of(const Array& rows) {
  RowMatrix out(rows.shape[0], rows.elements() / rows.shape[0]);
  for (std::int64_t i = 0; i < rows.elements(); ++i) out.data()[i] = rows.number(i);
  return out;
}

bool TraceRows::has(const std::string& site) const {
  return std::ranges::find(prompt_.sites, site) != prompt_.sites.end();
}

const RowMatrix& TraceRows::site(const std::string& name) {
  const auto [found, fresh] = read_.try_emplace(name);
  if (fresh) found->second = matrix_of(trace_.site(prompt_, name));
  return found->second;
}

std::optional<RowMatrix> TraceRows::gather(const Source& source) {
  std::int64_t width = 0;
  for (const SourcePiece& piece : source) {
    if (!has(piece.site) || piece.column + piece.count > site(piece.site).cols()) return std::nullopt;
    width += piece.count;
  }
  if (width == 0) return std::nullopt;
  RowMatrix out(std::ssize(prompt_.positions), width);
  std::int64_t at = 0;
  for (const SourcePiece& piece : source) {
    out.middleCols(at, piece.count) = site(piece.site).middleCols(piece.column, piece.count);
    at += piece.count;
  }
  return out;
}

}  // namespace assay
