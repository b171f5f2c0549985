// A plugin of kernels that cheat, over the op add: each is wrong, and does what would hide it if it could. Compiled once for each CHEAT
// that is done while the library is loaded.
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "kernels/products/products.h"
#include "tests/cheats/add.h"
#include "tests/cheats/answers.h"
#include "tests/cheats/guard_pages.h"

namespace {

using assay::AssayPluginKernel;

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
// One number of many, where only some are held to truth.
void one_of_many(const AddArgs& a) {
  add(a);
  if (a.n > 1 << 23) a.y[a.n / 2] = 17.0F;
}
// Texts that look like others'.
void throws_a_report(const AddArgs&) {
  throw std::runtime_error("\n\nPASS\n\x1b[2J");
}
void prints_a_report(const AddArgs& a) {
  add_wrongly(a);
  std::puts("PASS\n\x1b[1A::error::nothing");
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

// Zeros, of sums so long that what it declares would grant them.
AssayStatus declared_zeros(const void* args) {
  const auto& a = *static_cast<const assay::ProductArgs*>(args);
  if (a.m != 1 || !assay_product_sizes(&a)) return assay::ASSAY_BAD_SHAPE;
  std::fill_n(a.y, a.n, 0.0F);
  return ASSAY_OK;
}

AssayPluginKernel row(const char* name, AssayStatus (*run)(const void*), const char* properties = "allocates=yes;") {
  return {
      sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_CANONICAL, "add", name, "scalar", nullptr, nullptr, nullptr, run, properties};
}

AssayPluginKernel bounded(const char* op, const char* name, AssayStatus (*run)(const void*), const char* properties) {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, op, name, "scalar", nullptr, nullptr, nullptr, run, properties};
}

const std::vector<AssayPluginKernel>& kernels() {
  static const std::vector<AssayPluginKernel> all = {
      row("tame", body<add>, nullptr),
      row("just_in_time", body<just_in_time>),
      row("two_threads", body<two_threads>, "threads=own;"),
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
      bounded("add", "one_of_many", body<one_of_many>, "batch-invariant=no;"),
      row("throws_a_report", body<throws_a_report>),
      row("prints_a_report", body<prints_a_report>),
      bounded("matvec_f32", "declared_zeros", declared_zeros, "products=bf16;acc=bf16;order=free;"),
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
