#include "engine/convert/quantize.h"

#include <algorithm>

#include "engine/convert/encode_rows.h"
#include "engine/convert/metadata.h"
#include "engine/files/file_error.h"
#include "engine/files/gguf_writer.h"
#include "engine/model/model_file.h"

namespace assay {
namespace {

constexpr std::int64_t kPieceNumbers = std::int64_t{1} << 22;  // what is converted between two writes

[[noreturn]] void fail(Fault fault, const Weight& weight, const std::string& why) {
  throw ModelFileError(fault, {weight.file, weight.offset, "tensor " + shown(weight.name)}, why);
}

void check_types(const WeightMap& weights) {
  for (const Weight& weight : weights.all()) {
    if (!is_block(weight.dtype)) continue;
    fail(Fault::tensor_type, weight,
         std::string(dtype_name(weight.dtype)) + "; expected f32, f16 or bf16: quantised weights are not quantised again");
  }
}

void convert(const Weight& weight, const ListedTensor& tensor, Team& team, GgufWriter& writer) {
  const std::int64_t most = std::max<std::int64_t>(kPieceNumbers / weight.cols, 1);
  const std::size_t src_row = weight.bytes.size() / static_cast<std::size_t>(weight.rows);
  std::vector<std::uint8_t> piece;
  for (std::int64_t row = 0; row < weight.rows; row += most) {
    const auto rows = static_cast<std::size_t>(std::min(most, weight.rows - row));
    piece.resize(rows * tensor.row_bytes());
    const auto src = weight.bytes.subspan(static_cast<std::size_t>(row) * src_row, rows * src_row);
    try {
      encode_rows(weight.dtype, tensor.dtype, static_cast<std::int64_t>(rows), weight.cols, src, piece, team);
    } catch (const RowError& error) {
      fail(Fault::value, weight, "row " + std::to_string(row + error.row) + ": " + error.what());
    }
    writer.write(piece);
  }
}

}  // namespace

std::vector<ListedTensor> quantize(const QuantizeRequest& request) {
  const ModelFile model(request.in);
  check_types(model.weights());
  std::vector<ListedTensor> tensors = list_tensors(model.config(), *request.target, request.in.string());
  GgufWriter writer(request.out);
  if (model.gguf() != nullptr) {
    copy_metadata(*model.gguf(), *request.target, writer);
  } else {
    write_metadata(request.in, model.config(), *request.target, writer);
  }
  for (const ListedTensor& tensor : tensors) writer.declare(tensor.name, tensor.dtype, tensor.shape());
  writer.begin();
  Team team(request.threads);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (request.progress) request.progress(tensors[i], i, tensors.size());
    convert(model.weights().at(tensors[i].role, tensors[i].layer), tensors[i], team, writer);
  }
  writer.finish();
  return tensors;
}

}  // namespace assay
