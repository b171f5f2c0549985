// Foreign code run so that whatever it does to this thread comes back as a value.
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

// Once, before catch_faults: SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP of a thread that is inside catch_faults
// end `body`; those of other threads end the process, as without a handler. A stack that runs over is caught too.
void install_fault_handlers();

// Runs `body`, which may be left by a jump, and says how it ended; nullopt: by returning. Also a fault: an exception, and a
// floating-point environment or AMX's tiles that are not left as they were found.
std::optional<CaughtFault> catch_faults(const std::function<void()>& body);

}  // namespace assay
