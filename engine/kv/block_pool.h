// Numbered blocks, each free or taken. What a block is, its user knows.
#pragma once

#include <cstdint>
#include <vector>

namespace assay {

class BlockPool {
 public:
  explicit BlockPool(std::int64_t blocks);

  std::int64_t blocks() const { return std::ssize(taken_); }
  std::int64_t free() const { return free_; }
  bool is_free(int block) const { return !taken_[static_cast<std::size_t>(block)]; }

  // A free block, now taken: the one after `after` if it is free, else the first of the longest free run, so
  // that what grows together stays together. There must be a free one. `after` is -1 for none.
  int take(int after);
  void give_back(int block);

 private:
  int start_of_longest_run() const;

  std::vector<bool> taken_;
  std::int64_t free_;
};

}  // namespace assay
