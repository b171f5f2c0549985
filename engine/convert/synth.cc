#include "engine/convert/synth.h"

#include <algorithm>
#include <cmath>

#include "engine/convert/metadata.h"
#include "engine/convert/random_rows.h"
#include "engine/convert/synth_vocabulary.h"
#include "engine/files/gguf_writer.h"
#include "engine/threads.h"

namespace assay {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 24;
constexpr double kNormSigma = 0.1;

RandomMatrix matrix_of(const ListedTensor& tensor, std::uint64_t seed, std::size_t index) {
  const bool norm = is_norm(tensor.role);
  const double sigma = norm ? kNormSigma : 1 / std::sqrt(static_cast<double>(tensor.cols));
  return {tensor.dtype, tensor.cols, sigma, norm ? 1.0 : 0.0, seed, static_cast<std::uint32_t>(index)};
}

void write_tensor(const ListedTensor& tensor, const RandomMatrix& matrix, Team& team, GgufWriter& writer) {
  const std::uint64_t row_bytes = tensor.row_bytes();
  const auto most = static_cast<std::int64_t>(std::max<std::uint64_t>(kPieceBytes / row_bytes, 1));
  std::vector<std::uint8_t> piece;
  for (std::int64_t first = 0; first < tensor.rows; first += most) {
    const std::int64_t rows = std::min(most, tensor.rows - first);
    piece.resize(static_cast<std::size_t>(rows) * row_bytes);
    parallel_ranges(team, rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        random_row(matrix, first + row, std::span(piece).subspan(static_cast<std::size_t>(row) * row_bytes, row_bytes));
      }
    });
    writer.write(piece);
  }
}

}  // namespace

std::vector<ListedTensor> synthesize(const SynthRequest& request) {
  std::vector<ListedTensor> tensors = list_tensors(request.config, *request.target, request.out.string());
  GgufWriter writer(request.out);
  write_config(request.config, writer);
  write_tokenizer(synth_tokenizer(request.config.vocab), writer);
  write_file_type(*request.target, writer);
  for (const ListedTensor& tensor : tensors) writer.declare(tensor.name, tensor.dtype, tensor.shape());
  writer.begin();
  Team team(request.threads);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (request.progress) request.progress(tensors[i], i, tensors.size());
    write_tensor(tensors[i], matrix_of(tensors[i], request.seed, i), team, writer);
  }
  writer.finish();
  return tensors;
}

}  // namespace assay
