#include "harness/verdict/repeated_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "harness/verdict/guard.h"
#include "harness/verdict/strided.h"

namespace assay {
namespace {

constexpr std::size_t kMostPages = 4096;  // of a file

std::size_t largest_prime_up_to(std::size_t most) {
  const auto prime = [](std::size_t n) {
    for (std::size_t d = 2; d * d <= n; ++d) {
      if (n % d == 0) return false;
    }
    return n > 2;
  };
  while (!prime(most)) --most;
  return most;
}

bool is_written(std::uint8_t byte) {
  return byte != 0;
}
// Each byte is the one before it: sixteen at a time and more.
bool all_zero(const std::uint8_t* begin, const std::uint8_t* end) {
  return begin == end || (*begin == 0 && std::memcmp(begin, begin + 1, static_cast<std::size_t>(end - begin) - 1) == 0);
}

}  // namespace

RepeatedFile::RepeatedFile(std::size_t element, std::size_t least) {
  const std::size_t page = guard_page_bytes();
  const std::size_t step = std::lcm(page, element);
  bytes_ = step * largest_prime_up_to(std::max<std::size_t>({kMostPages * page / step, least / step * 5 / 4, 3}));
  descriptor_ = memfd_create("assay", MFD_CLOEXEC);
  if (descriptor_ < 0) throw std::bad_alloc();
  if (ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0) return;
  close(descriptor_);
  throw std::bad_alloc();
}

RepeatedFile::~RepeatedFile() {
  close(descriptor_);
}

void RepeatedFile::write(std::span<const std::uint8_t> bytes) const {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = pwrite(descriptor_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (written <= 0) throw std::bad_alloc();
    at += static_cast<std::size_t>(written);
  }
}

RepeatedMemory::RepeatedMemory(std::shared_ptr<const RepeatedFile> file, const TensorSpec& spec) : file_(std::move(file)) {
  const std::size_t page = guard_page_bytes();
  mapped_ = (spec.extent_bytes() / period() + 1) * period() + 2 * page;
  void* const base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::uint8_t*>(base);
  begin_ = base_ + page;
  for_each_run(spec, [this](std::size_t offset, std::size_t bytes) {
    for (std::size_t lap = offset / period(); lap * period() < offset + bytes; ++lap) laps_.insert(lap);
  });
  for (const std::size_t lap : laps_) {
    void* const at = begin_ + lap * period();
    if (mmap(at, period(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_->descriptor(), 0) != MAP_FAILED) continue;
    munmap(base_, mapped_);
    throw std::bad_alloc();
  }
}

RepeatedMemory::RepeatedMemory(RepeatedMemory&& other) noexcept
    : file_(std::move(other.file_)),
      base_(std::exchange(other.base_, nullptr)),
      begin_(other.begin_),
      mapped_(other.mapped_),
      laps_(std::move(other.laps_)) {}

RepeatedMemory::~RepeatedMemory() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

void RepeatedMemory::read_only() const {
  for (const std::size_t lap : laps_) mprotect(begin_ + lap * period(), period(), PROT_READ);
}

bool RepeatedMemory::owns(const void* address) const {
  const auto* const at = static_cast<const std::uint8_t*>(address);
  return at >= begin_ && at < base_ + mapped_ - (begin_ - base_);
}

bool RepeatedMemory::in_gap(const void* address) const {
  const std::ptrdiff_t offset = static_cast<const std::uint8_t*>(address) - begin_;
  return offset >= 0 && !laps_.contains(static_cast<std::size_t>(offset) / period());
}

std::int64_t RepeatedMemory::find_written() const {
  const auto end = static_cast<off_t>(period());
  for (off_t at = lseek(file_->descriptor(), 0, SEEK_DATA); at >= 0 && at < end;) {
    const off_t stop = std::min(end, lseek(file_->descriptor(), at, SEEK_HOLE));
    if (!all_zero(begin_ + at, begin_ + stop)) return std::find_if(begin_ + at, begin_ + stop, is_written) - begin_;
    at = lseek(file_->descriptor(), stop, SEEK_DATA);
  }
  return -1;
}

}  // namespace assay
