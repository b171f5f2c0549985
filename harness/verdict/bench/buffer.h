// Memory to measure with: its own pages, of the size asked for, and the size of the cache to get out of.
#pragma once

#include <cstddef>

namespace assay::bench {

enum class Pages { small, huge };  // huge: where the system grants them (madvise)

// Zeroed and touched pages, aligned to 2 MiB. Throws std::bad_alloc.
class PageBuffer {
 public:
  PageBuffer() = default;
  PageBuffer(std::size_t bytes, Pages pages);
  ~PageBuffer();
  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Bytes of the last level cache; 32 MiB where the system does not say.
std::size_t last_level_cache_bytes();
// For tests that are not about times: as if it were so large, so that little memory is cold. Before anything is timed.
void assume_cache_bytes(std::size_t bytes);

// How much memory a rotation must cover for each visit to be cold: above four times the last level cache,
// but no more than a quarter of the machine's memory.
std::size_t cold_bytes();

}  // namespace assay::bench
