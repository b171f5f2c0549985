// Reading keys and values back from a cache.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kv/cache.h"
#include "engine/run/observer.h"

namespace assay {

struct TokenRange {
  std::int64_t first;
  std::int64_t count;
};

// Row by row [2, n_kv, head_dim], K first, in the cache's type, copied into `buffer`, which the view points into. Rows that the policy
// no longer keeps are zero.
RowsView stored_rows(KvCache& cache, KvCache::Sequence sequence, std::int64_t layer, TokenRange tokens,
                     std::vector<std::uint8_t>& buffer);

}  // namespace assay
