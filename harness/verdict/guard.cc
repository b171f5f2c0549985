#include "harness/verdict/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace assay {

std::size_t guard_page_bytes() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

namespace {

// Handed out from the front; all of it again once none is in use.
struct Reserved {
  std::mutex mutex;
  std::uint8_t* begin = nullptr;  // null: wherever the kernel puts it
  std::size_t bytes = 0;
  std::size_t next = 0;
  std::size_t used = 0;
};
Reserved& reserved_here() {
  static Reserved one;
  return one;
}

void* map_nothing(void* at, std::size_t bytes, int flags) {
  void* const base = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  return base;
}

std::uint8_t* take_addresses(std::size_t bytes) {
  Reserved& here = reserved_here();
  const std::lock_guard lock(here.mutex);
  if (here.begin == nullptr) return static_cast<std::uint8_t*>(map_nothing(nullptr, bytes, 0));
  if (here.used == 0) here.next = 0;
  if (bytes > here.bytes - here.next) throw std::bad_alloc();
  ++here.used;
  here.next += bytes;
  return here.begin + (here.next - bytes);
}

void give_back_addresses(std::uint8_t* base, std::size_t bytes) {
  Reserved& here = reserved_here();
  const std::lock_guard lock(here.mutex);
  if (base < here.begin || base >= here.begin + here.bytes) {
    munmap(base, bytes);
  } else {
    map_nothing(base, bytes, MAP_FIXED);
    --here.used;
  }
}

// The same memory at two places, shared, so that a process forked from here writes to it too. mremap of no bytes maps it again; where that is
// not to be had, as of an emulated kernel, a file in memory is mapped twice.
bool map_twice(void* first, void* second, std::size_t bytes) {
  constexpr int kWritten = PROT_READ | PROT_WRITE;
  // All of it is written soon.
  if (mmap(first, bytes, kWritten, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0) == MAP_FAILED) return false;
  if (mremap(first, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, second) != MAP_FAILED)
    return mprotect(second, bytes, PROT_READ) == 0;
  const int file = memfd_create("assay-guarded", MFD_CLOEXEC);
  const bool mapped = file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0 &&
                      mmap(first, bytes, kWritten, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED &&
                      mmap(second, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  if (file >= 0) close(file);
  return mapped;
}

std::size_t reserved_for(std::size_t bytes, std::size_t page) {
  return 2 * (bytes + 2 * page);
}

// Mapped memory that nobody uses, to be used again by the process that mapped it.
class Idle {
 public:
  // Null: there is none of this size.
  std::uint8_t* take(std::size_t bytes, std::size_t page) {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) forget();
    const auto found = bases_.find({bytes, page});
    if (found == bases_.end()) return nullptr;
    std::uint8_t* const base = found->second;
    bases_.erase(found);
    bytes_ -= bytes;
    return base;
  }
  void give(std::uint8_t* base, std::size_t bytes, std::size_t page) {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) forget();
    bases_.emplace(std::pair(bytes, page), base);
    bytes_ += bytes;
    if (bytes_ > kMostBytes) unmap();
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  void unmap() {
    for (const auto& [size, base] : bases_) munmap(base, reserved_for(size.first, size.second));
    bases_.clear();
    bytes_ = 0;
  }
  // What a parent left stays its own.
  void forget() {
    bases_.clear();
    bytes_ = 0;
    process_ = getpid();
  }

  std::mutex mutex_;
  std::multimap<std::pair<std::size_t, std::size_t>, std::uint8_t*> bases_;
  std::size_t bytes_ = 0;
  int process_ = 0;
};
Idle& idle_here() {
  static Idle one;
  return one;
}

bool is_reserved() {
  const std::lock_guard lock(reserved_here().mutex);
  return reserved_here().begin != nullptr;
}

}  // namespace

void keep_guarded_memory_in(std::uint8_t* begin, std::size_t bytes) {
  Reserved& here = reserved_here();
  const std::lock_guard lock(here.mutex);
  here.begin = begin;
  here.bytes = bytes;
}

GuardedMemory::GuardedMemory(std::size_t bytes, std::size_t page)
    : bytes_((bytes / page + 1) * page), page_(page), process_(getpid()) {
  std::uint8_t* base = is_reserved() ? nullptr : idle_here().take(bytes_, page_);
  const bool is_mapped = base != nullptr;
  if (!is_mapped) base = take_addresses(reserved());
  begin_ = base + page_;
  if (!is_mapped && !map_twice(begin_, begin_ + distance(), bytes_)) {
    give_back_addresses(base, reserved());
    throw std::bad_alloc();
  }
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(other.bytes_), page_(other.page_), process_(other.process_) {}

GuardedMemory::~GuardedMemory() {
  if (begin_ == nullptr) return;
  if (process_ == getpid() && !is_reserved()) {
    idle_here().give(begin_ - page_, bytes_, page_);
  } else {
    give_back_addresses(begin_ - page_, reserved());
  }
}

bool GuardedMemory::owns(const void* address) const {
  const auto* byte = static_cast<const std::uint8_t*>(address);
  return byte >= begin_ - page_ && byte < begin_ - page_ + reserved();
}

std::uint8_t* GuardedMemory::writable(const void* address) const {
  const std::ptrdiff_t offset = static_cast<const std::uint8_t*>(address) - begin_;
  const auto second = static_cast<std::ptrdiff_t>(bytes_ + page_);
  return begin_ + (offset < second ? offset : offset - static_cast<std::ptrdiff_t>(distance()));
}

const void* GuardedCopies::add(std::span<const std::byte> bytes) {
  if (used_ == memory_.size()) memory_.emplace_back();
  std::optional<GuardedMemory>& memory = memory_[used_++];
  if (!memory || static_cast<std::size_t>(memory->end() - memory->begin()) < bytes.size()) memory.emplace(bytes.size());
  std::uint8_t* const begin = memory->end() - bytes.size();
  std::ranges::copy(bytes, reinterpret_cast<std::byte*>(begin));
  return memory->read_only(begin);
}

bool GuardedCopies::owns(const void* address) const {
  return std::any_of(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(used_),
                     [&](const std::optional<GuardedMemory>& one) { return one->owns(address); });
}

}  // namespace assay
