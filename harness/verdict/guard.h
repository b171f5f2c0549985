// Memory that tells: buffers between guard pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

namespace assay {

// Of this machine.
std::size_t guard_page_bytes();

// From now on guarded memory lies in [begin, begin + bytes), which is reserved and inaccessible, and becomes so again after it.
void keep_guarded_memory_in(std::uint8_t* begin, std::size_t bytes);

// Memory that is mapped twice: where it can be written, and where it can only be read. An inaccessible page lies before and after both.
// What lies in it at first is not defined: it may have been another's, since mapping costs more than many a call.
class GuardedMemory {
 public:
  // Rounded up to whole pages, with room for at least one byte more; throws std::bad_alloc. `page` is at least this machine's: the
  // larger one of another machine that is to lay it out alike.
  explicit GuardedMemory(std::size_t bytes, std::size_t page = guard_page_bytes());
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  GuardedMemory& operator=(GuardedMemory&&) = delete;
  ~GuardedMemory();

  std::uint8_t* begin() const { return begin_; }
  std::uint8_t* end() const { return begin_ + bytes_; }
  // What lies at `address` of [begin(), end()], where it can only be read.
  std::uint8_t* read_only(const std::uint8_t* address) const { return begin_ + (address - begin_) + distance(); }
  // What lies at an address of either mapping, where it can be written.
  std::uint8_t* writable(const void* address) const;
  // True if the address lies inside one of the mappings or their guard pages.
  bool owns(const void* address) const;

 private:
  std::size_t distance() const { return bytes_ + 2 * page_; }
  std::size_t reserved() const { return 2 * distance(); }

  std::uint8_t* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t page_ = 0;
  int process_ = 0;  // that mapped it: another forked from it shares it
};

// Copies of bytes that can only be read, an inaccessible page right behind the last of each.
class GuardedCopies {
 public:
  // Where the copy begins. It stays there until all are dropped.
  const void* add(std::span<const std::byte> bytes);
  // Their memory is kept for those to come.
  void drop() { used_ = 0; }
  // True if the address lies in one of them or beside it.
  bool owns(const void* address) const;

 private:
  std::deque<std::optional<GuardedMemory>> memory_;
  std::size_t used_ = 0;
};

}  // namespace assay
