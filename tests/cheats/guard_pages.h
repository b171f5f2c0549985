// Ways to open what lies behind a tensor, or where it can only be read.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "tests/cheats/add.h"

namespace {

// The page that begins at or behind an address.
char* page_behind(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return const_cast<char*>(static_cast<const char*>(address)) + (kPage - at % kPage) % kPage;
}
char* guard(const AddArgs& a) {
  return page_behind(a.a + a.n);
}

// Ways to the guard page.
void opened(const AddArgs& a) {
  mprotect(guard(a), kPage, PROT_READ);
}
void opened_from_before(const AddArgs& a) {
  char* const begin = guard(a) - kPage;
  mprotect(begin, 2 * kPage, PROT_READ | PROT_WRITE);
}
void opened_by_key(const AddArgs& a) {
  syscall(SYS_pkey_mprotect, guard(a), kPage, PROT_READ, -1);
}
void mapped_over(const AddArgs& a) {
  mmap(guard(a), kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
void unmapped_and_mapped(const AddArgs& a) {
  munmap(guard(a), kPage);
  mmap(guard(a), kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
void moved_over(const AddArgs& a) {
  static char* const own = static_cast<char*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mremap(own, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, guard(a));
}
void open_on_fault(int, siginfo_t* info, void*) {
  auto* const page = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(info->si_addr) / kPage * kPage);
  if (mprotect(page, kPage, PROT_READ) != 0) _exit(0);
}
void handle_faults() {
  struct sigaction action {};
  action.sa_sigaction = open_on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}
void own_handler(const AddArgs&) {
  handle_faults();
}
// By a handler that is run on another thread, which may have kept more.
char* volatile wished = nullptr;
std::atomic<bool> handled{false};
void open_on_signal(int) {
  mprotect(wished, kPage, PROT_READ);
  handled = true;
}
void by_another_thread(const AddArgs& a) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  wished = guard(a);
  handled = false;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = open_on_signal;
  sigaction(SIGURG, &action, &before);
  sigset_t mine;
  sigset_t kept;
  sigemptyset(&mine);
  sigaddset(&mine, SIGURG);
  pthread_sigmask(SIG_BLOCK, &mine, &kept);
  for (pid_t thread = getpid(); thread < getpid() + 16; ++thread) syscall(SYS_tgkill, getpid(), thread, SIGURG);
  kill(getpid(), SIGURG);
  for (int nap = 0; nap < 100 && !handled; ++nap) usleep(100);
  pthread_sigmask(SIG_SETMASK, &kept, nullptr);
  sigaction(SIGURG, &before, nullptr);
}
// What the constructor has started, perhaps before anything was given up.
std::atomic<char*> asked{nullptr};
[[maybe_unused]] void* open_what_is_asked(void*) {
  for (;;) {
    if (char* const page = asked.exchange(nullptr); page != nullptr) mprotect(page, kPage, PROT_READ);
    usleep(50);
  }
}
void by_a_constructors_thread(const AddArgs& a) {
  asked = guard(a);
  while (asked != nullptr) usleep(50);
  usleep(200);
}

// An input that is written to where it can only be read, and restored.
void input_opened(const AddArgs& a) {
  add(a);
  if (a.n == 0) return;
  auto* const page = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(a.a) / kPage * kPage);
  mprotect(page, kPage, PROT_READ | PROT_WRITE);
  volatile float* const input = const_cast<float*>(a.a);
  const float kept = input[0];
  input[0] = 0;
  input[0] = kept;
}

}  // namespace
