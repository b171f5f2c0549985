#include "harness/verdict/discipline/faults.h"

#include <cxxabi.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <typeinfo>

#include "kernels/abi.h"

namespace assay {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};

thread_local sigjmp_buf jump_target;
thread_local bool armed = false;
thread_local int caught_signal = 0;
thread_local const void* caught_address = nullptr;
thread_local const char* caught_reason = nullptr;
struct sigaction handlers_before[std::size(kSignals)];

// What the kernel says of a signal itself (ASSAY_FAULT_MARK), in its own memory; null: nothing.
const char* reason_of([[maybe_unused]] int signal, [[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  if (signal == SIGILL && registers[REG_RSI] == ASSAY_FAULT_MARK)
    return reinterpret_cast<const char*>(registers[REG_RDI]);  // NOLINT(performance-no-int-to-ptr)
#endif
  return nullptr;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  if (!armed) {  // of a thread that is not ours to save: what raised it raises it again, for who was there before
    const auto at = std::find(std::begin(kSignals), std::end(kSignals), signal) - kSignals;
    // Where handlers are given up for good: a fault whose signal is blocked ends the process.
    if (sigaction(signal, &handlers_before[at], nullptr) != 0) sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, signal);
    return;
  }
  armed = false;
  caught_signal = signal;
  caught_address = signal == SIGSEGV || signal == SIGBUS ? info->si_addr : nullptr;
  caught_reason = reason_of(signal, context);
  siglongjmp(jump_target, 1);
}

std::string current_exception_type() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : type->name();
}

std::optional<CaughtFault> run_catching(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return CaughtFault{0, nullptr, "threw " + current_exception_type() + ": " + error.what()};
  } catch (...) {
    return CaughtFault{0, nullptr, "threw " + current_exception_type()};
  }
  return std::nullopt;
}

}  // namespace

void install_fault_handlers() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction was {};
    sigaction(kSignals[i], &action, &was);
    if (was.sa_sigaction != on_signal) handlers_before[i] = was;
  }
}

std::optional<CaughtFault> catch_faults(const std::function<void()>& body) {
  static const bool installed = (install_fault_handlers(), true);
  static_cast<void>(installed);
  if (sigsetjmp(jump_target, 0) != 0) {
    return CaughtFault{caught_signal, caught_address, caught_reason == nullptr ? "" : caught_reason};
  }
  armed = true;
  std::optional<CaughtFault> caught = run_catching(body);
  armed = false;
  return caught;
}

}  // namespace assay
