#include "engine/run/load_weights.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/files/file_error.h"
#include "engine/files/mapped_file.h"
#include "engine/threads.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

void load_norm(const Weight& weight, float* dst) {
  AssayStatus status = ASSAY_OK;
  if (weight.dtype == DType::f32) {
    std::memcpy(dst, weight.bytes.data(), weight.bytes.size());
  } else {
    const ConvertArgs args{weight.bytes.data(), dst, weight.cols};
    status = select_kernel(*convert_op(weight.dtype, DType::f32).table).run(&args);
  }
  if (status != ASSAY_OK) throw std::logic_error("widening " + weight.name + " was refused");
}

// Groups of rows of a matrix, about as many bytes as in any other piece.
struct Piece {
  const PlannedWeight* planned;
  std::int64_t first;
  std::int64_t last;
};
constexpr std::int64_t kPieceBytes = 1 << 22;

std::vector<Piece> cut_matrices(const Plan& plan) {
  std::vector<Piece> pieces;
  for (const PlannedWeight& planned : plan.weights) {
    if (planned.in_file || planned.layout == nullptr) continue;
    const std::int64_t groups = planned.layout->groups(planned.stored->rows);
    const std::int64_t step = std::max<std::int64_t>(1, kPieceBytes / planned.layout->group_bytes(planned.stored->cols));
    for (std::int64_t first = 0; first < groups; first += step)
      pieces.push_back({&planned, first, std::min(first + step, groups)});
  }
  return pieces;
}

// Returns its bytes.
std::int64_t load_piece(const Piece& piece, std::uint8_t* region) {
  const PlannedWeight& planned = *piece.planned;
  const Weight& weight = *planned.stored;
  pack_groups(*planned.layout, weight.bytes.data(), region + planned.offset, weight.rows, weight.cols, piece.first, piece.last);
  const std::int64_t group_bytes = planned.layout->group_bytes(weight.cols);
  const std::int64_t begin = piece.first * group_bytes;
  release_pages(weight.bytes.subspan(begin, std::min(piece.last * group_bytes, std::ssize(weight.bytes)) - begin));
  return piece.last * group_bytes - begin;
}

}  // namespace

void check_surplus_head(const WeightMap& weights) {
  for (const Weight& head : weights.surplus_head()) {
    const Weight& embed = weights.at(Role::embed);
    if (head.dtype == embed.dtype && std::ranges::equal(head.bytes, embed.bytes)) continue;
    throw ModelFileError(Fault::unexpected_tensor, {head.file, head.offset, "tensor " + shown(head.name)},
                         "the embedding is tied, but this copy of it differs");
  }
}

// The file's pages are given back as they have been read: else a model would be resident twice.
void load_weights(const Plan& plan, std::uint8_t* region, Team& team, const LoadProgress& progress) {
  for (const PlannedWeight& planned : plan.weights) {
    if (planned.in_file || planned.layout != nullptr) continue;
    load_norm(*planned.stored, reinterpret_cast<float*>(region + planned.offset));
  }
  // A thread takes a piece when it is done with another: fresh pages do not cost each the same.
  const std::vector<Piece> pieces = cut_matrices(plan);
  std::atomic<std::size_t> next = 0;
  std::atomic<std::int64_t> done = 0;
  team.run([&](int part) {
    for (std::size_t i = next++; i < pieces.size(); i = next++) {
      done += load_piece(pieces[i], region);
      if (progress && part == 0) progress(done, plan.weight_bytes);
    }
  });
  // A fault maps pages around its own too, and has brought back some of those that a neighbour had given back: 3 MB have been seen.
  for (const PlannedWeight& planned : plan.weights) {
    if (!planned.in_file) release_pages(planned.stored->bytes);
  }
}

}  // namespace assay
