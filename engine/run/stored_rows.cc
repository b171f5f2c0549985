#include "engine/run/stored_rows.h"

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

struct Sizes {
  std::size_t element;
  std::size_t head;  // bytes of a head's row
  std::size_t side;  // of all heads'
};

// The heads of one side of one position.
void copy_side(const void* base, std::int64_t head_stride, std::int64_t row_offset, std::int64_t n_kv, const Sizes& sizes,
               std::uint8_t* out) {
  for (std::int64_t h = 0; h < n_kv; ++h) {
    const std::int64_t offset = (h * head_stride + row_offset) * static_cast<std::int64_t>(sizes.element);
    std::memcpy(out + static_cast<std::size_t>(h) * sizes.head, static_cast<const std::uint8_t*>(base) + offset, sizes.head);
  }
}

}  // namespace

RowsView stored_rows(KvCache& cache, KvCache::Sequence sequence, std::int64_t layer, TokenRange tokens,
                     std::vector<std::uint8_t>& buffer) {
  const KvShape& shape = cache.config().shape;
  Sizes sizes{dtype_size(shape.type), 0, 0};
  sizes.head = static_cast<std::size_t>(shape.head_dim) * sizes.element;
  sizes.side = static_cast<std::size_t>(shape.n_kv) * sizes.head;
  buffer.assign(static_cast<std::size_t>(tokens.count) * 2 * sizes.side, 0);
  for (const AssayKvSpan& span : cache.view(sequence, layer)) {
    const std::int64_t last = std::min(span.first + span.count, tokens.first + tokens.count);
    for (std::int64_t position = std::max(span.first, tokens.first); position < last; ++position) {
      std::uint8_t* const row = buffer.data() + static_cast<std::size_t>(position - tokens.first) * 2 * sizes.side;
      const std::int64_t within = position - span.first;
      copy_side(span.k, span.k_head_stride, within * span.k_row_stride, shape.n_kv, sizes, row);
      copy_side(span.v, span.v_head_stride, within * span.v_row_stride, shape.n_kv, sizes, row + sizes.side);
    }
  }
  return {buffer.data(), shape.type, tokens.count, static_cast<std::int64_t>(2 * sizes.side), {2, shape.n_kv, shape.head_dim}};
}

}  // namespace assay
