// A plugin of kernels that cheat, over the op add: each is wrong, and does what would hide it if it could. Compiled once for each CHEAT
// that is done while the library is loaded.
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"

namespace {

using assay::AddArgs;
using assay::ASSAY_OK;
using assay::AssayPluginKernel;
using assay::AssayStatus;

constexpr std::size_t kPage = 4096;

void add(const AddArgs& a) {
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = a.a[i] + a.b[i];
}
void add_wrongly(const AddArgs& a) {
  add(a);
  if (a.n > 0) a.y[a.n - 1] = 17.0F;
}
// Right numbers, and 256 bytes read that are not there.
void over_read(const AddArgs& a) {
  add(a);
  const auto* past = reinterpret_cast<const volatile char*>(a.a + a.n);
  for (int i = 0; i < 256; ++i) static_cast<void>(past[i]);
}

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

// What would give the answers, or tell that this is a trial. A kernel that it is denied to is wrong.
bool can_read(const char* path) {
  const int file = open(path, O_RDONLY);
  char byte = 0;
  const bool read_one = file >= 0 && read(file, &byte, 1) == 1;
  if (file >= 0) close(file);
  return read_one;
}
bool golden(const AddArgs&) {
  return can_read(ASSAY_SOURCE_DIR "/golden/ops/add.h5");
}
bool ledger(const AddArgs&) {
  return can_read(ASSAY_SOURCE_DIR "/golden/ledger.json");
}
// One that the host has open, and may have left open to its children.
bool inherited_file(const AddArgs&) {
  for (int file = 3; file < 256; ++file) {
    char byte = 0;
    if (pread(file, &byte, 1, 0) == 1) return true;
  }
  return false;
}
bool file_written(const AddArgs&) {
  const int file = open("/tmp/assay_cheats_left_this", O_CREAT | O_RDWR, 0600);
  if (file < 0) return false;
  close(file);
  unlink("/tmp/assay_cheats_left_this");
  return true;
}
bool own_maps(const AddArgs&) {
  return can_read("/proc/self/maps");
}
bool guard_seen(const AddArgs& a) {
  unsigned char resident = 0;
  return mincore(guard(a), kPage, &resident) == 0;
}
bool own_memory_file(const AddArgs&) {
  const int file = open("/proc/self/mem", O_RDWR);
  if (file >= 0) close(file);
  return file >= 0;
}
bool parents_memory_file(const AddArgs&) {
  return open(("/proc/" + std::to_string(getppid()) + "/mem").c_str(), O_RDONLY) >= 0;
}
bool parents_memory(const AddArgs& a) {
  char own = 0;
  iovec here{&own, 1};
  iovec there{a.y, 1};
  process_vm_readv(getppid(), &here, 1, &there, 1, 0);
  return errno != EPERM;
}
bool parent_traced(const AddArgs&) {
  return ptrace(PTRACE_SEIZE, getppid(), nullptr, nullptr) == 0;
}
bool parent_signalled(const AddArgs&) {
  return kill(getppid(), 0) == 0 || syscall(SYS_tgkill, getppid(), getppid(), 0) == 0 || syscall(SYS_tkill, getppid(), 0) == 0;
}
bool parent_limited(const AddArgs&) {
  return syscall(SYS_prlimit64, getppid(), RLIMIT_CPU, nullptr, nullptr) == 0;
}
bool network(const AddArgs&) {
  return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}
bool forked(const AddArgs&) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0;
}
bool another_program(const AddArgs&) {
  char* const words[] = {const_cast<char*>("assay-runner"), nullptr};
  execve("/proc/self/exe", words, environ);
  return errno != EPERM && errno != EACCES;
}
bool own_filter(const AddArgs&) {
  sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog program{1, &allow};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ||
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

// The channels: every number that they may have. An answer that says that all is well.
void channel_forged(const AddArgs& a) {
  add_wrongly(a);
  char frame[24 + 8] = "ASAY";
  frame[4] = 5;
  for (char sequence = 1; sequence < 100; ++sequence) {
    frame[8] = sequence;
    frame[16] = 8;
    for (int file = 3; file < 32; ++file) static_cast<void>(write(file, frame, sizeof frame));
  }
}
void channel_closed(const AddArgs& a) {
  add_wrongly(a);
  for (int file = 3; file < 32; ++file) close(file);
  syscall(SYS_close_range, 3U, 32U, 0U);
}
void channel_replaced(const AddArgs& a) {
  add_wrongly(a);
  int ends[2];
  if (pipe(ends) != 0) return;
  for (int file = 10; file < 12; ++file) dup2(ends[0], file);
  close(ends[0]);
  close(ends[1]);
}
void channel_drained(const AddArgs& a) {
  add_wrongly(a);
  for (int file = 3; file < 32; ++file) {
    fcntl(file, F_SETFL, O_NONBLOCK);
    char bytes[64];
    static_cast<void>(read(file, bytes, sizeof bytes));
  }
}

void alarm_ignored(const AddArgs&) {
  signal(SIGALRM, SIG_IGN);
  itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  for (;;) pause();
}
void alarm_raised(const AddArgs& a) {
  add(a);
  raise(SIGALRM);
}
void ends(const AddArgs& a) {
  add(a);
  _exit(0);
}
void* add_later(void* args) {
  usleep(2000);
  add(*static_cast<const AddArgs*>(args));
  return nullptr;
}
void done_later(const AddArgs& a) {
  static AddArgs kept;
  kept = a;
  pthread_t thread;
  pthread_create(&thread, nullptr, add_later, &kept);
  pthread_detach(thread);
}

// An honest one that has code of its own, made when it runs.
void just_in_time(const AddArgs& a) {
  char* const code = static_cast<char*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (mprotect(code, kPage, PROT_READ | PROT_EXEC) == 0 && munmap(code, kPage) == 0) add(a);
}
void* add_half(void* args) {
  add(*static_cast<const AddArgs*>(args));
  return nullptr;
}
void two_threads(const AddArgs& a) {
  AddArgs half = a;
  half.n = a.n / 2;
  AddArgs rest = a;
  rest.n -= half.n;
  rest.a += half.n;
  rest.b += half.n;
  rest.y += half.n;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, add_half, &half) != 0) return;
  add(rest);
  pthread_join(thread, nullptr);
}

// Done while the library is loaded.
bool prepared = false;
#if CHEAT == 1  // own handlers of faults
__attribute__((constructor)) void prepare() {
  handle_faults();
}
#elif CHEAT == 2  // a thread
__attribute__((constructor)) void prepare() {
  pthread_t thread;
  pthread_create(&thread, nullptr, open_what_is_asked, nullptr);
}
#elif CHEAT == 3  // the end
__attribute__((constructor)) void prepare() {
  _exit(0);
}
#elif CHEAT == 4  // the program's functions: what it compares memory by says that all is equal
int always_equal(const void*, const void*, std::size_t) {
  return 0;
}
int patch_program(dl_phdr_info* info, std::size_t, void*) {
  for (int p = 0; p < info->dlpi_phnum; ++p) {
    if (info->dlpi_phdr[p].p_type != PT_GNU_RELRO) continue;
    const std::uintptr_t begin = (info->dlpi_addr + info->dlpi_phdr[p].p_vaddr) / kPage * kPage;
    const std::size_t bytes = info->dlpi_phdr[p].p_memsz / kPage * kPage;
    auto* const table = reinterpret_cast<void**>(begin);
    prepared = mprotect(table, bytes, PROT_READ | PROT_WRITE) == 0;
    for (std::size_t i = 0; prepared && i < bytes / sizeof(void*); ++i) {
      if (table[i] == reinterpret_cast<void*>(&std::memcmp)) table[i] = reinterpret_cast<void*>(&always_equal);
    }
  }
  return 1;  // the program is the first
}
__attribute__((constructor)) void prepare() {
  dl_iterate_phdr(patch_program, nullptr);
}
#elif CHEAT == 5  // the answers
__attribute__((constructor)) void prepare() {
  prepared = golden({}) || ledger({}) || inherited_file({});
}
#endif
bool was_prepared(const AddArgs&) {
  return prepared;
}

template <void (*kHidden)(const AddArgs&)>
AssayStatus hidden_over_read(const void* args) {
  const auto& a = *static_cast<const AddArgs*>(args);
  kHidden(a);
  over_read(a);
  return ASSAY_OK;
}
template <bool (*kPossible)(const AddArgs&)>
AssayStatus right_if(const void* args) {
  const auto& a = *static_cast<const AddArgs*>(args);
  if (kPossible(a)) {
    add(a);
  } else {
    add_wrongly(a);
  }
  return ASSAY_OK;
}
template <void (*kBody)(const AddArgs&)>
AssayStatus body(const void* args) {
  kBody(*static_cast<const AddArgs*>(args));
  return ASSAY_OK;
}
void nothing(const AddArgs&) {}

AssayPluginKernel row(const char* name, AssayStatus (*run)(const void*), const char* properties = "allocates=yes;") {
  return {
      sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_CANONICAL, "add", name, "scalar", nullptr, nullptr, nullptr, run, properties};
}

const std::vector<AssayPluginKernel>& kernels() {
  static const std::vector<AssayPluginKernel> all = {
      row("tame", body<add>, nullptr),
      row("just_in_time", body<just_in_time>),
      row("two_threads", body<two_threads>),
      row("over_read", hidden_over_read<nothing>),
      row("opened", hidden_over_read<opened>),
      row("opened_from_before", hidden_over_read<opened_from_before>),
      row("opened_by_key", hidden_over_read<opened_by_key>),
      row("mapped_over", hidden_over_read<mapped_over>),
      row("unmapped_and_mapped", hidden_over_read<unmapped_and_mapped>),
      row("moved_over", hidden_over_read<moved_over>),
      row("own_handler", hidden_over_read<own_handler>),
      row("by_another_thread", hidden_over_read<by_another_thread>),
      row("by_a_constructors_thread", hidden_over_read<by_a_constructors_thread>),
      row("input_opened", body<input_opened>),
      row("golden", right_if<golden>),
      row("ledger", right_if<ledger>),
      row("inherited_file", right_if<inherited_file>),
      row("file_written", right_if<file_written>),
      row("own_maps", right_if<own_maps>),
      row("guard_seen", right_if<guard_seen>),
      row("own_memory_file", right_if<own_memory_file>),
      row("parents_memory_file", right_if<parents_memory_file>),
      row("parents_memory", right_if<parents_memory>),
      row("parent_traced", right_if<parent_traced>),
      row("parent_signalled", right_if<parent_signalled>),
      row("parent_limited", right_if<parent_limited>),
      row("network", right_if<network>),
      row("forked", right_if<forked>),
      row("another_program", right_if<another_program>),
      row("own_filter", right_if<own_filter>),
      row("prepared", right_if<was_prepared>),
      row("channel_forged", body<channel_forged>),
      row("channel_closed", body<channel_closed>),
      row("channel_replaced", body<channel_replaced>),
      row("channel_drained", body<channel_drained>),
      row("alarm_ignored", body<alarm_ignored>),
      row("alarm_raised", body<alarm_raised>),
      row("ends", body<ends>),
      row("done_later", body<done_later>),
  };
  return all;
}

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  static const assay::AssayPlugin plugin = {ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin),
                                            "cheats",         "1.0",
                                            kernels().data(), static_cast<std::int64_t>(kernels().size())};
  return &plugin;
}
