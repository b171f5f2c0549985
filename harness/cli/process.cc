#include "harness/cli/process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "engine/files/lost_pages.h"
#include "golden/atomic_file.h"
#include "harness/cli/cli.h"

namespace assay::cli {
namespace {

std::atomic<bool> ended{false};
std::terminate_handler default_terminate = nullptr;

// Otherwise the first file to be opened would be the one that is printed into. Opened the wrong way round, so that using it fails.
void keep_standard_files_apart() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF) open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// "[json.exception.parse_error.101] parse error at line 1" is of a library.
std::string without_library_words(std::string message) {
  for (std::size_t at = 0; (at = message.find("[json.exception.", at)) != std::string::npos;)
    message.erase(at, message.find("] ", at) + 2 - at);
  return message;
}

// Not by fmt, which throws where standard error cannot be written.
int fail(const std::string& message) {
  std::fprintf(stderr, "assay: %s\n", without_library_words(message).c_str());
  return kWrongUse;
}

int fail_to_print(const std::string& why) {
  return fail("standard output: cannot be written" + (why.empty() ? "" : ": " + why));
}

// Anything thrown is wrong use or unreadable input: parity failures are values.
int status_of(const std::function<int()>& body) {
  try {
    const int status = body();
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    return fail_to_print(errno == 0 ? "" : std::generic_category().message(errno));
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(error.path1().string() + ": " + error.code().message());
  } catch (const std::length_error&) {
    return fail("a size past what memory can hold");
  } catch (const std::system_error& error) {
    return std::ferror(stdout) == 0 ? fail(error.what()) : fail_to_print(error.code().message());
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

// More than what an exception takes.
bool has_no_memory() {
  constexpr std::size_t kSome = 4096;
  return std::unique_ptr<void, decltype(&std::free)>(std::malloc(kSome), std::free) == nullptr;
}

// Where an exception meets a destructor (nlohmann's, for one, ask for memory), or finds no memory to be thrown in.
[[noreturn]] void on_terminate() {
  bool no_memory = false;
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
    no_memory = has_no_memory();
  } catch (const std::bad_alloc&) {
    no_memory = true;
  } catch (...) {  // NOLINT(bugprone-empty-catch): what else it may be, the default says
  }
  if (no_memory) {
    remove_unfinished_files();
    std::fputs("assay: out of memory\n", stderr);
    _exit(kWrongUse);
  }
  default_terminate();
  std::abort();
}

void on_interrupt(int signal) {
  remove_unfinished_files();
  ::signal(signal, SIG_DFL);
  raise(signal);
}

volatile std::sig_atomic_t noted = 0;

void note_interrupt(int signal) {
  if (noted != 0) on_interrupt(signal);
  noted = signal;
}

void handle_interrupts(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // as nohup has it
    action = {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

int run_process(const std::function<int()>& body) {
  keep_standard_files_apart();
  ::signal(SIGXFSZ, SIG_IGN);
  report_lost_pages();
  default_terminate = std::set_terminate(on_terminate);
  std::atexit([] {
    if (!ended) _exit(kWrongUse);
  });
  const int status = status_of(body);
  ended = true;
  return status;
}

void leave_nothing_when_interrupted() {
  handle_interrupts(on_interrupt);
}

NotedInterrupt::NotedInterrupt() {
  noted = 0;
  handle_interrupts(note_interrupt);
}

NotedInterrupt::~NotedInterrupt() {
  leave_nothing_when_interrupted();
}

int NotedInterrupt::signal() {
  return noted;
}

}  // namespace assay::cli
