#include "harness/forensics/audit/trace_rows.h"

#include <algorithm>

namespace assay {

RowMatrix matrix_of(const Array& rows) {
  RowMatrix out(rows.shape[0], rows.elements() / rows.shape[0]);
  if (rows.dtype == DType::f32) {
    out.reshaped<Eigen::RowMajor>() =
        Eigen::Map<const Eigen::VectorXf>(reinterpret_cast<const float*>(rows.bytes.data()), out.size()).cast<double>();
  } else {
    for (std::int64_t i = 0; i < out.size(); ++i) out.data()[i] = rows.number(i);
  }
  return out;
}

bool TraceRows::has(const std::string& site) const {
  return std::ranges::find(prompt_.sites, site) != prompt_.sites.end();
}

const RowMatrix& TraceRows::site(const std::string& name) {
  const auto [found, fresh] = read_.try_emplace(name);
  if (fresh) {
    found->second = matrix_of(trace_.site(prompt_, name));
    kept_ += found->second.size() * static_cast<std::int64_t>(sizeof(double));
  }
  return found->second;
}

void TraceRows::forget_if_many() {
  if (kept_ <= kMostKept) return;
  read_.clear();
  kept_ = 0;
}

bool TraceRows::has_all(const Source& source) {
  return !source.empty() && std::ranges::all_of(source, [&](const SourcePiece& piece) {
    return has(piece.site) && piece.column + piece.count <= site(piece.site).cols();
  });
}

std::optional<RowMatrix> TraceRows::gather(const Source& source) {
  if (!has_all(source)) return std::nullopt;
  std::int64_t width = 0;
  for (const SourcePiece& piece : source) width += piece.count;
  RowMatrix out(std::ssize(prompt_.positions), width);
  std::int64_t at = 0;
  for (const SourcePiece& piece : source) {
    out.middleCols(at, piece.count) = site(piece.site).middleCols(piece.column, piece.count);
    at += piece.count;
  }
  return out;
}

}  // namespace assay
