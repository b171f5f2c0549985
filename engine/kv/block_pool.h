// Numbered blocks that several owners may share. What a block is, its user knows.
#pragma once

#include <cstdint>
#include <vector>

namespace assay {

class BlockPool {
 public:
  explicit BlockPool(std::int64_t blocks);

  std::int64_t blocks() const { return static_cast<std::int64_t>(owners_.size()); }
  std::int64_t free() const { return free_; }
  bool is_free(int block) const { return owners_[static_cast<std::size_t>(block)] == 0; }

  // A free block, now with one owner: the one after `after` if it is free, else the first of the longest free run, so
  // that what grows together stays together. There must be a free one. `after` is -1 for none.
  int take(int after);
  void share(int block) { ++owners_[static_cast<std::size_t>(block)]; }
  bool give_back(int block);  // true if it is free now

 private:
  int start_of_longest_run() const;

  std::vector<std::int32_t> owners_;
  std::int64_t free_;
};

}  // namespace assay
