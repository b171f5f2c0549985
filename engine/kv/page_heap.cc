#include "engine/kv/page_heap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "engine/kv/shape.h"

namespace assay {
namespace {

[[noreturn]] void refused(const std::string& what) {
  const int error = errno;
  throw KvExhausted("kv reserved: " + what + ": " + std::strerror(error));
}

int allocate(int file, int mode, std::int64_t offset, std::int64_t bytes) {
  int result = 0;
  do {
    result = fallocate(file, mode, offset, bytes);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

PageHeap::PageHeap(std::int64_t lanes, std::int64_t groups, std::int64_t group_bytes)
    : groups_(groups), lanes_(lanes), group_bytes_(group_bytes), file_(memfd_create("assay-kv", MFD_CLOEXEC)) {
  if (file_ < 0) refused("memfd_create");
  if (ftruncate(file_, lanes * groups * group_bytes) != 0) {
    const int error = errno;
    ::close(file_);
    errno = error;
    refused("a heap of " + std::to_string(lanes * groups * group_bytes) + " bytes");
  }
}

PageHeap::~PageHeap() {
  ::close(file_);
}

void PageHeap::commit(int group, std::int64_t bytes) {
  for (std::int64_t lane = 0; lane < lanes_; ++lane) {
    if (allocate(file_, 0, offset(lane, group), bytes) != 0) {
      refused("the kernel gives no " + std::to_string(lanes_ * bytes) + " bytes");
    }
  }
}

void PageHeap::map(int group, char* start, std::int64_t lane_stride) {
  for (std::int64_t lane = 0; lane < lanes_; ++lane) {
    void* const at = mmap(start + lane * lane_stride, static_cast<std::size_t>(group_bytes_), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED, file_, offset(lane, group));
    if (at == MAP_FAILED) refused("mmap (vm.max_map_count limits how many a process has)");
  }
}

void PageHeap::release(std::vector<int> groups) {
  for (const int group : groups) groups_.give_back(group);
  std::ranges::sort(groups);
  for (std::size_t first = 0, next = 1; first < groups.size(); first = next++) {
    while (next < groups.size() && groups[next] == groups[next - 1] + 1) ++next;
    punch(groups[first], static_cast<std::int64_t>(next - first));
  }
}

void PageHeap::punch(int first, std::int64_t count) {
  for (std::int64_t lane = 0; lane < lanes_; ++lane) {
    if (allocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset(lane, first), count * group_bytes_) != 0) {
      refused("giving pages back");
    }
  }
}

std::int64_t PageHeap::physical_bytes() const {
  struct stat status {};
  if (fstat(file_, &status) != 0) refused("fstat");
  return static_cast<std::int64_t>(status.st_blocks) * 512;
}

}  // namespace assay
