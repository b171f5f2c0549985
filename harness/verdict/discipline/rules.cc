#include "harness/verdict/discipline/rules.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness/verdict/discipline/allocations.h"
#include "harness/verdict/discipline/crowd.h"
#include "harness/verdict/discipline/faults.h"
#include "harness/verdict/discipline/threads.h"
#include "kernels/isa.h"

namespace assay {
namespace {

std::string hexadecimal(std::uint64_t word) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(word));
  return text;
}

#if defined(__x86_64__)

constexpr std::uint32_t kMxcsrStatus = 0x3f;  // what arithmetic raises, and may
constexpr std::uint64_t kRounding = 0x6000;
constexpr std::uint64_t kFlushing = 0x8040;  // FTZ, DAZ

// MXCSR in the lower half, the control word of the x87 in the upper.
std::uint64_t float_control() {
  std::uint32_t mxcsr = 0;
  std::uint16_t control = 0;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(control));
  return (mxcsr & ~kMxcsrStatus) | std::uint64_t{control} << 32;
}
void set_float_control(std::uint64_t before) {
  const auto mxcsr = static_cast<std::uint32_t>(before);
  const auto control = static_cast<std::uint16_t>(before >> 32);
  __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(control));
}

// Which registers of the x87, or of MMX, hold something: 0xffff where none does.
std::uint64_t x87_tags() {
  struct {
    std::uint32_t control, status, tags, rest[4];
  } environment;
  // It masks exceptions when it has stored them.
  __asm__ volatile("fnstenv %0\n\tfldcw %0" : "=m"(environment));
  return environment.tags & 0xffffU;
}
std::string x87_complaint(std::uint64_t, std::uint64_t after) {
  return "left registers of the x87 in use: MMX without emms? (tag word " + hexadecimal(after) + ")";
}
void empty_x87(std::uint64_t) {
  __asm__ volatile("emms");
}

#elif defined(__aarch64__)

constexpr std::uint64_t kRounding = 0xc00000;
constexpr std::uint64_t kFlushing = 0x1080001;  // FZ, FZ16, FIZ

std::uint64_t float_control() {
  std::uint64_t control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
void set_float_control(std::uint64_t before) {
  __asm__ volatile("msr fpcr, %0" : : "r"(before));
}

#else
#error "float_control: this architecture's control register is not known"
#endif

std::string float_complaint(std::uint64_t before, std::uint64_t after) {
  const char* how = "its control register is another";
  if (((before ^ after) & kRounding) != 0) how = "this thread does not round to nearest";
  if ((after & ~before & kFlushing) != 0) how = "this thread flushes denormals";
  return std::string("left another floating-point environment behind: ") + how + " (" + hexadecimal(before) + " became " +
         hexadecimal(after) + ")";
}

std::uint64_t signal_mask() {
  sigset_t mask;
  sigemptyset(&mask);
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::uint64_t word = 0;
  std::memcpy(&word, &mask, sizeof word);
  return word;
}
std::string mask_complaint(std::uint64_t before, std::uint64_t after) {
  return "left other signals blocked: " + hexadecimal(before) + " became " + hexadecimal(after);
}
void set_signal_mask(std::uint64_t before) {
  sigset_t mask;
  sigemptyset(&mask);
  std::memcpy(&mask, &before, sizeof before);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

// Taken in the lower half, given back in the upper.
std::uint64_t heap_words() {
  const Allocations now = allocations();
  return now.taken | std::uint64_t{now.given_back} << 32;
}
std::string heap_complaint(std::uint64_t before, std::uint64_t after) {
  const auto taken = static_cast<std::uint32_t>(after) - static_cast<std::uint32_t>(before);
  const auto given_back = static_cast<std::uint32_t>(after >> 32) - static_cast<std::uint32_t>(before >> 32);
  return "called malloc, mmap or their kin " + std::to_string(taken) + " times and gave back " + std::to_string(given_back) +
         " times: a kernel takes no memory of its own";
}

std::string threads_complaint(std::uint64_t before, std::uint64_t after) {
  return "started threads of its own, " + std::to_string(after - before) +
         ": a kernel runs on its caller's, or declares threads=own";
}

// AMX's; to look is to take back.
std::uint64_t tiles() {
  return take_back_tiles() ? 1 : 0;
}
std::string tiles_complaint(std::uint64_t, std::uint64_t) {
  return kTilesLeft;
}

constexpr Rule kCallRules[] = {
    {"floating-point control", float_control, float_complaint, set_float_control},
    {"tiles", tiles, tiles_complaint, nullptr},
#if defined(__x86_64__)
    {"x87 registers", x87_tags, x87_complaint, empty_x87},
#endif
    {"signal mask", signal_mask, mask_complaint, set_signal_mask},
    // What may be allowed comes last: both, or memory alone.
    {"threads", threads_started, threads_complaint, nullptr},
    {"heap", heap_words, heap_complaint, nullptr},
};

// The lowest number that a file would get.
std::uint64_t next_descriptor() {
  const int file = open("/", O_PATH | O_CLOEXEC);
  if (file >= 0) close(file);
  return static_cast<std::uint64_t>(file);
}
std::string descriptor_complaint(std::uint64_t before, std::uint64_t after) {
  return "left files open: the next would be number " + std::to_string(after) + ", before " + std::to_string(before);
}

// Pages.
std::uint64_t address_space() {
  char text[64] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  return bytes > 0 ? std::strtoull(text, nullptr, 10) : 0;
}
std::string address_complaint(std::uint64_t before, std::uint64_t after) {
  constexpr std::uint64_t kMostPages = 1024;  // one in five calls
  return after < before + kMostPages ? "" : "left " + std::to_string(after - before) + " pages of memory mapped";
}

constexpr Rule kRestRules[] = {
    {"descriptors", next_descriptor, descriptor_complaint, nullptr},
    {"address space", address_space, address_complaint, nullptr},
};

std::vector<struct sigaction> handlers_now() {
  std::vector<struct sigaction> all(NSIG);
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, nullptr, &all[static_cast<std::size_t>(signal)]);
  return all;
}

}  // namespace

std::span<const Rule> call_rules(Allowed allowed) {
  return std::span(kCallRules).first(std::size(kCallRules) - static_cast<std::size_t>(allowed));
}

std::span<const Rule> rest_rules() {
  return kRestRules;
}

Discipline::Discipline(std::span<const Rule> rules) : rules_(rules) {
  static_assert(std::size(kCallRules) <= kMostRules);
  for (std::size_t r = 0; r < rules_.size(); ++r) before_[r] = rules_[r].now();
}

std::string Discipline::settle() {
  std::string first;
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    const std::uint64_t after = rules_[r].now();
    if (after == before_[r]) continue;
    if (rules_[r].restore != nullptr) rules_[r].restore(before_[r]);
    if (first.empty()) first = rules_[r].complaint(before_[r], after);
  }
  return first;
}

HandlersKept::HandlersKept() {
  install_fault_handlers();
  Crowd::install_handler();
  before_ = handlers_now();
}

std::string HandlersKept::settle() const {
  std::string first;
  const std::vector<struct sigaction> after = handlers_now();
  for (std::size_t signal = 1; signal < after.size(); ++signal) {
    constexpr int kRestorer = 0x04000000;  // what the C library adds to whatever it sets, be it what was there
    const bool same_flags = ((after[signal].sa_flags ^ before_[signal].sa_flags) & ~kRestorer) == 0;
    if (after[signal].sa_sigaction == before_[signal].sa_sigaction && same_flags) continue;
    sigaction(static_cast<int>(signal), &before_[signal], nullptr);
    if (first.empty())
      first = "left another handler of signal " + std::to_string(signal) + " (" + strsignal(static_cast<int>(signal)) + ")";
  }
  return first;
}

}  // namespace assay
