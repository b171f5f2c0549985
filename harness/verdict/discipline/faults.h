// Foreign code run so that whatever ends it comes back as a value.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace assay {

struct CaughtFault {
  int signal = 0;                 // 0: none; then `text` says what
  const void* address = nullptr;  // SIGSEGV and SIGBUS: what was touched
  std::string text;               // of an exception: its type and message; of a signal: what the kernel says of it itself
};

// SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP of a thread that is inside catch_faults end `body`; those of other threads are
// for who handled them before. Done at the first catch_faults, if not before. To be called again where a body has put other handlers.
void install_fault_handlers();

// Runs `body`, which may be left by a jump, and says how it ended; nullopt: by returning. An exception is a fault too. A stack that
// runs over is caught where the thread has another for its handlers (KernelStack::of_this_thread).
std::optional<CaughtFault> catch_faults(const std::function<void()>& body);

}  // namespace assay
