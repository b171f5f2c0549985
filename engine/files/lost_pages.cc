#include "engine/files/lost_pages.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

#include "golden/atomic_file.h"

namespace assay {
namespace {

// A mapped file as a signal handler can look it up.
struct Mapping {
  std::atomic<const std::uint8_t*> begin{nullptr};
  std::atomic<std::size_t> size{0};
  std::array<char, 1024> name{};
};
std::array<Mapping, 64> mappings;

void write_error(const char* text, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, size);
    if (written <= 0) return;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

void write_error(const char* text) noexcept {
  write_error(text, strlen(text));
}

void write_error(std::uint64_t number) noexcept {
  std::array<char, 20> digits{};
  std::size_t first = digits.size();
  do digits[--first] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  write_error(&digits[first], digits.size() - first);
}

std::atomic_flag reported = ATOMIC_FLAG_INIT;

void on_lost_page(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Mapping& one : mappings) {
    const auto begin = reinterpret_cast<std::uintptr_t>(one.begin.load());
    if (begin == 0 || at < begin || at - begin >= one.size) continue;
    while (reported.test_and_set()) pause();  // another thread has met it too
    remove_unfinished_files();
    write_error("assay: ");
    write_error(one.name.data());
    write_error(": byte ");
    write_error(at - begin);
    write_error(": cannot be read: the file was cut short while it was in use, or its disk fails\n");
    _exit(2);
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

void remember_mapping(std::span<const std::uint8_t> bytes, std::string_view file) {
  for (Mapping& one : mappings) {
    const std::uint8_t* none = nullptr;
    if (!one.begin.compare_exchange_strong(none, bytes.data())) continue;
    file.copy(one.name.data(), one.name.size() - 1);
    one.size = bytes.size();
    return;
  }
}

void forget_mapping(std::span<const std::uint8_t> bytes) {
  for (Mapping& one : mappings) {
    if (one.begin != bytes.data()) continue;
    one.size = 0;
    one.name.fill('\0');
    one.begin = nullptr;
    return;
  }
}

void report_lost_pages() {
  struct sigaction action {};
  action.sa_sigaction = on_lost_page;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace assay
