#include "harness/verdict/discipline/stack.h"

#include <signal.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "harness/verdict/discipline/crowd.h"
#include "harness/verdict/discipline/poison.h"
#include "harness/verdict/discipline/sanitized.h"

namespace assay {
namespace {

constexpr std::size_t kReach = std::size_t{1} << 26;  // of inaccessible memory below: a frame larger than a page reaches past one
constexpr std::size_t kHandlerBytes = std::size_t{1} << 17;  // room for a signal frame with every vector register
constexpr std::size_t kCanary = 512;  // of the caller's frame; 512(top) holds the frame's address (the entry below)
constexpr std::size_t kTop = kCanary + 16;

#if defined(__x86_64__)
constexpr const char* kSaved[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
#else
constexpr const char* kSaved[] = {"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
                                  "x29", "d8",  "d9",  "d10", "d11", "d12", "d13", "d14", "d15"};
#endif

}  // namespace

#if !ASSAY_SANITIZED

// entry.cc.
extern "C" int assay_enter_kernel(KernelFunction kernel, const void* args, void* frame);

#endif

// Threads come and go, one or two for each call that is cut; stacks stay.
class LeasedStack {
 public:
  LeasedStack() {
    Pool& all = pool();
    const std::lock_guard lock(all.mutex);
    if (all.free.empty()) {
      stack_ = std::make_unique<KernelStack>();
    } else {
      stack_ = std::move(all.free.back());
      all.free.pop_back();
    }
    stack_t handlers{};
    handlers.ss_sp = stack_->handlers_;
    handlers.ss_size = kHandlerBytes;
    sigaltstack(&handlers, nullptr);
  }
  LeasedStack(const LeasedStack&) = delete;
  LeasedStack& operator=(const LeasedStack&) = delete;
  ~LeasedStack() {
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
    Pool& all = pool();
    const std::lock_guard lock(all.mutex);
    all.free.push_back(std::move(stack_));
  }
  KernelStack& get() const { return *stack_; }
  static void refill_idle() {
    for (const auto& stack : pool().free) stack->refill();
  }

 private:
  struct Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<KernelStack>> free;
  };
  static Pool& pool() {
    static auto* const one = new Pool;  // outlives every thread
    return *one;
  }
  std::unique_ptr<KernelStack> stack_;
};

KernelStack& KernelStack::of_this_thread() {
  thread_local const LeasedStack leased;
  return leased.get();
}

void KernelStack::refill_idle() {
  LeasedStack::refill_idle();
}

// From below: what no frame may reach, the stack, a guard page, the handlers' stack.
KernelStack::KernelStack() {
  const std::size_t page = guard_page_bytes();
  const std::size_t bytes = kReach + kKernelStackBytes + page + kHandlerBytes;
  void* const base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  reserved_ = static_cast<std::uint8_t*>(base);
  begin_ = reserved_ + kReach;
  handlers_ = end() + page;
  if (mprotect(begin_, kKernelStackBytes, PROT_READ | PROT_WRITE) != 0 ||
      mprotect(handlers_, kHandlerBytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, bytes);
    throw std::bad_alloc();
  }
  std::uint64_t seed = reinterpret_cast<std::uintptr_t>(this);
  Poison(Poison::Kind::nans, seed).fill(pattern_.data(), pattern_.data(), pattern_.data() + pattern_.size());
  for (std::uint64_t& word : frame_.given) word = split_mix(seed) | 0x7ff0000000000000U;
  frame_.top = end() - kTop;
}

KernelStack::~KernelStack() {
  munmap(reserved_, kReach + kKernelStackBytes + guard_page_bytes() + kHandlerBytes);
}

bool KernelStack::overrun_by(const void* address) const {
  const auto* byte = static_cast<const std::uint8_t*>(address);
  return byte >= reserved_ && byte < begin_;
}

#if !ASSAY_SANITIZED

// Frames lie below one another from the top, and are compared there. Below the first piece that nobody has touched may lie the touched
// part of a large array: there two words of each piece tell.
void KernelStack::refill() {
  bool frames = true;
  for (std::uint8_t* piece = end() - pattern_.size(); piece >= begin_; piece -= pattern_.size()) {
    const auto differs = [&](std::size_t offset, std::size_t bytes) {
      return std::memcmp(piece + offset, pattern_.data() + offset, bytes) != 0;
    };
    const bool touched = frames ? differs(0, pattern_.size()) : differs(0, 8) || differs(pattern_.size() / 2, 8);
    if (touched || unfinished_) std::memcpy(piece, pattern_.data(), pattern_.size());
    frames = frames && touched;
  }
  unfinished_ = false;
}

int KernelStack::call(KernelFunction kernel, const void* args) {
  refill();
  unfinished_ = true;
  frame_.found = frame_.given;
  const Crowd::Stops stops;
  const int status = assay_enter_kernel(kernel, args, &frame_);
  unfinished_ = false;
  return status;
}

std::string KernelStack::broken() const {
  for (std::size_t r = 0; r < std::size(kSaved); ++r) {
    if (frame_.found[r] != frame_.given[r])
      return std::string("left another value in the register ") + kSaved[r] + ", which a callee saves";
  }
#if defined(__x86_64__)
  constexpr std::uint64_t kDirection = 1 << 10;
  if ((frame_.flags & kDirection) != 0) return "left the direction flag set";
#endif
  if (std::memcmp(frame_.top, pattern_.data() + pattern_.size() - kTop, kCanary) != 0) return "wrote into its caller's frame";
  return {};
}

#else

void KernelStack::refill() {}

int KernelStack::call(KernelFunction kernel, const void* args) {
  const Crowd::Stops stops;
  return static_cast<int>(kernel(args));
}

std::string KernelStack::broken() const {
  return {};
}

#endif

}  // namespace assay
