#include "engine/kv/block_pool.h"

namespace assay {

BlockPool::BlockPool(std::int64_t blocks) : taken_(static_cast<std::size_t>(blocks), false), free_(blocks) {}

int BlockPool::take(int after) {
  const bool follows = after >= 0 && after + 1 < blocks() && is_free(after + 1);
  const int block = follows ? after + 1 : start_of_longest_run();
  taken_[static_cast<std::size_t>(block)] = true;
  --free_;
  return block;
}

void BlockPool::give_back(int block) {
  taken_[static_cast<std::size_t>(block)] = false;
  ++free_;
}

int BlockPool::start_of_longest_run() const {
  std::size_t best = 0;
  std::size_t best_length = 0;
  std::size_t length = 0;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    length = !taken_[i] ? length + 1 : 0;
    if (length > best_length) {
      best_length = length;
      best = i + 1 - length;
    }
  }
  return static_cast<int>(best);
}

}  // namespace assay
