// A plugin whose kernels compute what they should, over the op add, and are unruly: each in one way, and once for each claim. What none of
// them does is in `tame`.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"

namespace {

using assay::AddArgs;
using assay::ASSAY_OK;
using assay::AssayPluginKernel;
using assay::AssayStatus;

// Right: the canonical bits.
void add(const AddArgs& a) {
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = a.a[i] + a.b[i];
}
// Wrong where there is anything, and inside the bound of no op.
void add_wrongly(const AddArgs& a, bool wrongly) {
  add(a);
  if (wrongly && a.n > 0) a.y[a.n - 1] = std::nextafter(a.y[a.n - 1], 8.0F);
}

// Time for another thread to come by, wherever threads are switched.
void linger() {
  timespec left{0, 200'000};
  while (nanosleep(&left, &left) != 0) continue;  // a signal ends it early
}

using Behaviour = void (*)(const AddArgs& a);

constexpr std::int64_t kScratch = 1 << 18;
float scratch[kScratch];

void shared_scratch(const AddArgs& a) {
  if (a.n > kScratch) return add(a);
  for (std::int64_t i = 0; i < a.n; ++i) scratch[i] = a.a[i];
  if (a.n > 100) linger();
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = scratch[i] + a.b[i];
}

void cached_by_pointer(const AddArgs& a) {
  struct Entry {
    AddArgs args;
    std::array<float, 4096> y;
  };
  static thread_local std::array<Entry, 64> cache;
  static thread_local std::size_t next = 0;
  for (const Entry& one : cache) {
    if (one.args.a == a.a && one.args.b == a.b && one.args.y == a.y && one.args.n == a.n && a.n > 0) {
      std::memcpy(a.y, one.y.data(), static_cast<std::size_t>(a.n) * sizeof(float));
      return;
    }
  }
  add(a);
  if (a.n > 4096) return;
  Entry& one = cache[next++ % cache.size()];
  one.args = a;
  std::memcpy(one.y.data(), a.y, static_cast<std::size_t>(a.n) * sizeof(float));
}

void every_4096th(const AddArgs& a) {
  static std::atomic<std::uint32_t> calls{0};
  add_wrongly(a, ++calls % 4096 == 0);
}
void from_call_2000(const AddArgs& a) {
  static std::atomic<std::uint32_t> calls{0};
  add_wrongly(a, ++calls >= 2000);
}
void three_threads(const AddArgs& a) {
  static std::atomic<int> inside{0};
  static std::atomic<int> seen{0};
  if (++inside >= 3) seen = 1;
  if (a.n > 100) linger();
  add_wrongly(a, seen != 0);
  if (--inside == 0) seen = 0;
}
// Filled after it is said to be.
void lazy_table(const AddArgs& a) {
  static volatile int ready = 0;
  static volatile float one[64];
  if (ready == 0) {
    ready = 1;
    linger();
    for (volatile float& value : one) value = 1;
  }
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = a.a[i] * one[i % 64] + a.b[i];
}
void leak(const AddArgs& a) {
  [[maybe_unused]] static volatile std::uintptr_t kept;
  kept = reinterpret_cast<std::uintptr_t>(std::malloc(16));
  add(a);
}
void heap(const AddArgs& a) {
  const std::vector<float> copy(a.a, a.a + a.n);
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = copy[static_cast<std::size_t>(i)] + a.b[i];
}
void mapped(const AddArgs& a) {
  mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  add(a);
}
void large_frame(const AddArgs& a) {
  volatile char frame[1 << 20];
  frame[0] = 1;
  if (frame[0] == 1) add(a);
}
// What lay in the output before, where it was no number.
void knows_nans(const AddArgs& a) {
  const bool fresh = a.n == 0 || std::isnan(a.y[0]) || a.y == a.a || a.y == a.b;
  add_wrongly(a, !fresh);
}
void knows_bytes(const AddArgs& a) {
  std::uint32_t first = 0xffffffff;
  if (a.n > 0) std::memcpy(&first, a.y, sizeof first);
  const bool poison = first == 0xffffffff || first == 0x3b3b3b3b;
  add_wrongly(a, !poison && a.y != a.a && a.y != a.b);
}
void x_aligned_alone(const AddArgs& a) {
  const auto aligned = [](const float* x) { return reinterpret_cast<std::uintptr_t>(x) % 32 == 0; };
  add_wrongly(a, aligned(a.a) && !aligned(a.y));
}
void input_restored(const AddArgs& a) {
  if (a.n == 0) return;
  volatile float* const input = const_cast<float*>(a.a);
  const float kept = input[0];
  input[0] = 0;
  input[0] = kept;
  add(a);
}
// The sum lies on a: b is to be as it was all the same.
void other_input_in_place(const AddArgs& a) {
  add(a);
  volatile float* const other = const_cast<float*>(a.b);
  if (a.n > 0 && a.y == a.a) other[0] = 0;
}
// The caller's, who may call with them again.
void arguments(const AddArgs& a) {
  add(a);
  const_cast<AddArgs&>(a).n = 0;
}
void signal_blocked(const AddArgs& a) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  add(a);
}
void handler(const AddArgs& a) {
  signal(SIGUSR1, SIG_IGN);
  add(a);
}
void left_open(const AddArgs& a) {
  static_cast<void>(open("/dev/null", O_RDONLY));
  add(a);
}
#if defined(__x86_64__)
void mmx(const AddArgs& a) {
  add(a);
  __asm__ volatile("pxor %%mm0, %%mm0" ::: "mm0");
}
void flushing(const AddArgs& a) {
  add(a);
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000U);
}
void rounding(const AddArgs& a) {
  add(a);
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x6000U);
}
void x87_control(const AddArgs& a) {
  add(a);
  const std::uint16_t single = 0x007f;
  __asm__ volatile("fldcw %0" : : "m"(single));
}
void direction(const AddArgs& a) {
  add(a);
  __asm__ volatile("std");
}
// The compiler is not told.
void register_lost(const AddArgs& a) {
  add(a);
  __asm__ volatile("xorl %r12d, %r12d");
}
// Its caller's frame lies above its return address.
void callers_frame(const AddArgs& a) {
  add(a);
  volatile char* const frame = static_cast<char*>(__builtin_frame_address(0));
  for (int i = 128; i < 160; ++i) frame[i] = 0;
}
#elif defined(__aarch64__)
void set_control(std::uint64_t bits) {
  std::uint64_t control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | bits));
}
void flushing(const AddArgs& a) {
  add(a);
  set_control(0x1000000);
}
void rounding(const AddArgs& a) {
  add(a);
  set_control(0xc00000);
}
void register_lost(const AddArgs& a) {
  add(a);
  __asm__ volatile("mov x20, xzr");
}
void vector_register_lost(const AddArgs& a) {
  add(a);
  __asm__ volatile("movi d9, #0");
}
#endif

struct Row {
  const char* name;
  Behaviour behaviour;
};

constexpr Row kRows[] = {
    {"tame", add},
    {"shared_scratch", shared_scratch},
    {"cached_by_pointer", cached_by_pointer},
    {"every_4096th", every_4096th},
    {"from_call_2000", from_call_2000},
    {"three_threads", three_threads},
    {"lazy_table", lazy_table},
    {"leak", leak},
    {"heap", heap},
    {"mapped", mapped},
    {"large_frame", large_frame},
    {"knows_nans", knows_nans},
    {"knows_bytes", knows_bytes},
    {"x_aligned_alone", x_aligned_alone},
    {"input_restored", input_restored},
    {"other_input_in_place", other_input_in_place},
    {"arguments", arguments},
    {"signal_blocked", signal_blocked},
    {"handler", handler},
    {"left_open", left_open},
#if defined(__x86_64__)
    {"mmx", mmx},
    {"flushing", flushing},
    {"rounding", rounding},
    {"x87_control", x87_control},
    {"direction", direction},
    {"register_lost", register_lost},
    {"callers_frame", callers_frame},
#elif defined(__aarch64__)
    {"flushing", flushing},
    {"rounding", rounding},
    {"register_lost", register_lost},
    {"vector_register_lost", vector_register_lost},
#endif
};

constexpr std::size_t row_of(Behaviour behaviour) {
  std::size_t row = 0;
  while (kRows[row].behaviour != behaviour) ++row;
  return row;
}

template <std::size_t kRow>
AssayStatus run(const void* args) {
  kRows[kRow].behaviour(*static_cast<const AddArgs*>(args));
  return ASSAY_OK;
}

std::vector<std::string>& names() {
  static std::vector<std::string> all;
  return all;
}

template <std::size_t... kRow>
std::vector<AssayPluginKernel> all_kernels(std::index_sequence<kRow...>) {
  names().reserve(2 * (sizeof...(kRow) + 2));  // texts that kernels point to
  std::vector<AssayPluginKernel> all;
  const auto append = [&all](const char* name, AssayStatus (*kernel)(const void*), const char* properties) {
    for (const auto& [claim, suffix] :
         {std::pair(assay::ASSAY_CLAIM_CANONICAL, ""), std::pair(assay::ASSAY_CLAIM_BOUNDED, "_bounded")}) {
      names().push_back(std::string(name) + suffix);
      all.push_back({sizeof(AssayPluginKernel), claim, "add", names().back().c_str(), "scalar", nullptr, nullptr, nullptr, kernel,
                     properties});
    }
  };
  (append(kRows[kRow].name, run<kRow>, nullptr), ...);
  append("heap_declared", run<row_of(heap)>, "allocates=yes;");
  append("leak_declared", run<row_of(leak)>, "allocates=yes;");
  return all;
}

const std::vector<AssayPluginKernel>& kernels() {
  static const std::vector<AssayPluginKernel> all = all_kernels(std::make_index_sequence<std::size(kRows)>());
  return all;
}

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  static const assay::AssayPlugin plugin = {ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin),
                                            "unruly",         "1.0",
                                            kernels().data(), static_cast<std::int64_t>(kernels().size())};
  return &plugin;
}
