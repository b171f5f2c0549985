#include "harness/interop/runner/faults.h"

#include <cxxabi.h>
#include <setjmp.h>
#include <signal.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>
#include <vector>

#include "harness/verdict/guard.h"
#include "kernels/isa.h"

namespace assay {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
constexpr std::size_t kStackBytes = 1 << 17;  // of the handlers: room for a signal frame with every vector register

thread_local sigjmp_buf jump_target;
thread_local bool armed = false;
thread_local int caught_signal = 0;
thread_local const void* caught_address = nullptr;
thread_local const char* caught_reason = nullptr;

void on_signal(int signal, siginfo_t* info, void* context) {
  if (!armed) {  // of a thread that is not ours to save
    ::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  armed = false;
  caught_signal = signal;
  caught_address = signal == SIGSEGV || signal == SIGBUS ? info->si_addr : nullptr;
  caught_reason = reason_of(signal, context);
  siglongjmp(jump_target, 1);
}

// This thread's stack for handlers, while it lives.
class SignalStack {
 public:
  SignalStack() : memory_(kStackBytes) {
    stack_t stack{};
    stack.ss_sp = memory_.data();
    stack.ss_size = memory_.size();
    sigaltstack(&stack, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() {
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
  }

 private:
  std::vector<char> memory_;
};

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
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

std::optional<CaughtFault> catch_faults(const std::function<void()>& body) {
  const SignalStack stack;
  if (sigsetjmp(jump_target, 1) != 0) {
    take_back_tiles();
    return CaughtFault{caught_signal, caught_address, caught_reason == nullptr ? "" : caught_reason};
  }
  armed = true;
  std::optional<CaughtFault> caught = run_catching(body);
  armed = false;
  const bool tiles_left = take_back_tiles();
  if (caught) return caught;
  if (tiles_left) return CaughtFault{0, nullptr, kTilesLeft};
  try {
    assert_float_environment();
  } catch (const std::exception& error) {
    return CaughtFault{0, nullptr, std::string("left another floating-point environment behind: ") + error.what()};
  }
  return std::nullopt;
}

}  // namespace assay
