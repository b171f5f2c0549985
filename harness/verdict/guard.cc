#include "harness/verdict/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <new>
#include <utility>

#include "kernels/abi.h"

namespace assay {
namespace {

constexpr std::array<int, 4> kSignals{SIGSEGV, SIGBUS, SIGILL, SIGFPE};

thread_local sigjmp_buf jump_target;
thread_local bool armed = false;
thread_local MemoryFault last_fault;

void on_fault(int signal, siginfo_t* info, void* context) {
  if (!armed) {  // not ours: die as without a handler
    ::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  last_fault = {signal, info->si_addr, reason_of(signal, context)};
  siglongjmp(jump_target, 1);
}

// The handlers are in place only while a kernel runs.
class Handlers {
 public:
  Handlers() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &old_[i]);
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;
  ~Handlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
  }

 private:
  std::array<struct sigaction, kSignals.size()> old_{};
};

}  // namespace

const char* reason_of([[maybe_unused]] int signal, [[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  if (signal == SIGILL && registers[REG_RSI] == ASSAY_FAULT_MARK)
    return reinterpret_cast<const char*>(registers[REG_RDI]);  // NOLINT(performance-no-int-to-ptr)
#endif
  return nullptr;
}

std::size_t guard_page_bytes() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

GuardedMemory::GuardedMemory(std::size_t bytes, std::size_t page) : page_(page) {
  bytes_ = (bytes / page + 1) * page;
  void* base = mmap(nullptr, bytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::uint8_t*>(base) + page;
  if (mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, bytes_ + 2 * page);
    throw std::bad_alloc();
  }
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(other.bytes_), page_(other.page_) {}

GuardedMemory::~GuardedMemory() {
  if (begin_ != nullptr) munmap(begin_ - page_, bytes_ + 2 * page_);
}

bool GuardedMemory::owns(const void* address) const {
  const auto* byte = static_cast<const std::uint8_t*>(address);
  return byte >= begin_ - page_ && byte < end() + page_;
}

std::optional<MemoryFault> run_guarded(const std::function<void()>& call) {
  const Handlers handlers;
  if (sigsetjmp(jump_target, 1) != 0) {
    armed = false;
    return last_fault;
  }
  armed = true;
  call();
  armed = false;
  return std::nullopt;
}

}  // namespace assay
