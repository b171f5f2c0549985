// Physical pages that sequences share out among themselves: a memory file whose pages are mapped where they are needed, and given
// back by punching holes into the file.
//
// A group is the pages of 256 positions in every lane (head of a layer and side). The file is [lane, group], so groups
// that follow each other are one mapping of the kernel's in each lane.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kv/block_pool.h"

namespace assay {

class PageHeap {
 public:
  // group_bytes: of one lane, whole pages. Throws KvExhausted where the kernel refuses.
  PageHeap(std::int64_t lanes, std::int64_t groups, std::int64_t group_bytes);
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;
  ~PageHeap();

  BlockPool& groups() { return groups_; }
  const BlockPool& groups() const { return groups_; }

  // Makes the first `bytes` of the group physical in every lane: what was committed cannot fail when it is written.
  // KvExhausted: memory ran out.
  void commit(int group, std::int64_t bytes);
  // Maps the group of every lane: lane i at start + i * lane_stride. KvExhausted: the kernel refuses, as it does beyond
  // vm.max_map_count mappings.
  void map(int group, char* start, std::int64_t lane_stride);
  // Nothing maps the groups any more: their pages go back to the kernel.
  void release(std::vector<int> groups);

  std::int64_t physical_bytes() const;

 private:
  std::int64_t offset(std::int64_t lane, int group) const { return (lane * groups_.blocks() + group) * group_bytes_; }
  void punch(int first, std::int64_t count);

  BlockPool groups_;
  std::int64_t lanes_;
  std::int64_t group_bytes_;
  int file_;
};

}  // namespace assay
