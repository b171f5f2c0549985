// Memory that tells: buffers between guard pages, and calls whose faults come back as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace assay {

// Of this machine.
std::size_t guard_page_bytes();

// Anonymous memory with an inaccessible page before and after it.
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
  // True if the address lies inside the memory or its guard pages.
  bool owns(const void* address) const;

 private:
  std::uint8_t* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t page_ = 0;
};

struct MemoryFault {
  int signal = 0;
  const void* address = nullptr;  // SIGSEGV and SIGBUS: what was touched
  const char* reason = nullptr;   // what the kernel says of it itself (ASSAY_FAULT_MARK), in its own memory
};

// The reason that a kernel gives for a signal, of the handler's context; null: none.
const char* reason_of(int signal, const void* context);

// Of a call after which take_back_tiles() says so (kernels/isa.h).
inline constexpr char kTilesLeft[] = "left the tiles configured (no TILERELEASE)";

// Runs `call`, which must own nothing that a jump would leak, and reports SIGSEGV, SIGBUS, SIGILL or SIGFPE
// raised in it by this thread.
std::optional<MemoryFault> run_guarded(const std::function<void()>& call);

}  // namespace assay
