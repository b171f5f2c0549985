// Kernels that are honest in a check and cheat on the clock. Compiled once for each CHEAT that is done while the library is loaded. Each is `add`, canonical, but for what its name says. They tell a timed call by
// the memory that a runner is given for it, as a kernel could that has read this project.
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"
#include "kernels/products/products.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

using assay::AddArgs;
using assay::ASSAY_BAD_SHAPE;
using assay::ASSAY_OK;
using assay::AssayPluginKernel;
using assay::AssayStatus;

constexpr int kShared = 3;             // the descriptor of the memory that a runner shares while it is timed
constexpr std::int64_t kShape = 6007;  // of the timed calls

const AddArgs& call(const void* args) {
  return *static_cast<const AddArgs*>(args);
}

bool has_shared_memory() {
  struct stat about {};
  return fstat(kShared, &about) == 0 && S_ISREG(about.st_mode);
}
bool on_the_clock(const AddArgs& a) {
  return a.n == kShape && has_shared_memory();
}

void add_some(const AddArgs& a, std::int64_t from, std::int64_t to) {
  for (std::int64_t i = from; i < to; ++i) a.y[i] = a.a[i] + a.b[i];
}

AssayStatus honest(const void* args) {
  const AddArgs& a = call(args);
  if (!assay_add_sizes(&a)) return ASSAY_BAD_SHAPE;
  add_some(a, 0, a.n);
  return ASSAY_OK;
}

// Instead of the honest body, while timed.
template <AssayStatus (*kTimed)(const AddArgs&)>
AssayStatus only_timed(const void* args) {
  return on_the_clock(call(args)) ? kTimed(call(args)) : honest(args);
}

AssayStatus nothing(const AddArgs&) {
  return ASSAY_OK;
}
AssayStatus half(const AddArgs& a) {
  add_some(a, 0, a.n / 2);
  return ASSAY_OK;
}
AssayStatus half_and_zeros(const AddArgs& a) {
  add_some(a, 0, a.n / 2);
  std::memset(a.y + a.n / 2, 0, static_cast<std::size_t>(a.n - a.n / 2) * sizeof(float));
  return ASSAY_OK;
}
AssayStatus last_alone(const AddArgs& a) {  // wrong in one number of 6007
  add_some(a, 0, a.n - 1);
  a.y[a.n - 1] = 0;
  return ASSAY_OK;
}
AssayStatus by_content(const AddArgs& a) {  // zeros in one call of 16, the same ones each time
  std::uint32_t bits;
  std::memcpy(&bits, a.a, sizeof bits);
  add_some(a, 0, a.n);
  if (bits % 16 == 0) std::memset(a.y, 0, static_cast<std::size_t>(a.n) * sizeof(float));
  return ASSAY_OK;
}
std::int64_t calls = 0;
AssayStatus by_counter(const AddArgs& a) {  // every other call leaves the output as it is
  if (++calls % 2 == 0) add_some(a, 0, a.n);
  return ASSAY_OK;
}
AssayStatus second_batch(const AddArgs& a) {
  if (++calls < 40) add_some(a, 0, a.n);
  return ASSAY_OK;
}
const float* last_a = nullptr;
float kept[kShape];
AssayStatus replays_by_pointer(const AddArgs& a) {
  if (a.a != last_a) {
    last_a = a.a;
    add_some(a, 0, a.n);
    std::memcpy(kept, a.y, sizeof kept);
  } else {
    std::memcpy(a.y, kept, sizeof kept);
  }
  return ASSAY_OK;
}
AssayStatus replays_always(const AddArgs& a) {
  if (calls++ == 0) {
    add_some(a, 0, a.n);
    std::memcpy(kept, a.y, sizeof kept);
  }
  std::memcpy(a.y, kept, sizeof kept);
  return ASSAY_OK;
}
// Small numbers are coarse, in seven calls of eight; the eighth is right, and farther from our kernel's than those. So is the first.
AssayStatus decoys(const AddArgs& a) {
  add_some(a, 0, a.n);
  float* const top = std::max_element(a.y, a.y + a.n);
  const float ulp = std::nextafter(*top, 2 * *top) - *top;
  const auto is_between = [&](std::int64_t i) {
    const double sum = double{a.a[i]} + double{a.b[i]};
    return a.y[i] > *top / 2 && a.y[i] < sum && double{a.y[i]} + double{ulp} - sum < 0x1p-24 * sum;
  };
  std::uint32_t bits;
  std::memcpy(&bits, a.a, sizeof bits);
  if (++calls == 1) return ASSAY_OK;
  if (bits % 8 == 0) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      if (!is_between(i)) continue;
      a.y[i] += ulp;
      return ASSAY_OK;
    }
  }
  const float grid = 0.9F * ulp;
  for (std::int64_t i = 0; i < a.n; ++i) {
    if (std::fabs(a.y[i]) < *top / 64) a.y[i] = std::nearbyint(a.y[i] / grid) * grid;
  }
  return ASSAY_OK;
}
AssayStatus coarse(const AddArgs& a) {  // outside the bound, everywhere alike
  for (std::int64_t i = 0; i < a.n; ++i) {
    const float sum = a.a[i] + a.b[i];
    a.y[i] = sum * (1 + 0x1p-20F);
  }
  return ASSAY_OK;
}
AssayStatus crashes(const AddArgs&) {
  volatile int* nowhere = nullptr;
  return *nowhere == 0 ? ASSAY_OK : ASSAY_BAD_SHAPE;
}
AssayStatus hangs(const AddArgs&) {
  for (;;) usleep(1000);
}
AssayStatus hangs_without_alarm(const AddArgs&) {
  signal(SIGALRM, SIG_IGN);
  for (;;) usleep(1000);
}
AssayStatus leaves(const AddArgs&) {
  _exit(0);
}
AssayStatus refuses(const AddArgs&) {
  return ASSAY_BAD_SHAPE;
}
AssayStatus no_status(const AddArgs& a) {
  add_some(a, 0, a.n);
  AssayStatus status;
  std::memset(&status, 77, sizeof status);
  return status;
}
AssayStatus closes_everything(const AddArgs& a) {
  for (int file = 3; file < 64; ++file) close(file);
  return nothing(a);
}
#if defined(__x86_64__)
AssayStatus flushes(const AddArgs& a) {
  add_some(a, 0, a.n);
  _mm_setcsr(_mm_getcsr() | 0x8040);
  return ASSAY_OK;
}
#endif

std::atomic<std::uint32_t>* turn_word() {
  static auto* const turn =
      static_cast<std::atomic<std::uint32_t>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kShared, 0));
  return turn;
}

// Says that all is done, and does nothing more.
AssayStatus says_done(const AddArgs& a) {
  std::atomic<std::uint32_t>* const turn = turn_word();
  if (turn != MAP_FAILED) {
    turn->store(3);
    syscall(SYS_futex, turn, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  usleep(20000);
  add_some(a, 0, a.n);
  return ASSAY_OK;
}

// A frame of its own in every descriptor that takes one: "timed, ASSAY_OK".
AssayStatus forges(const AddArgs& a) {
  static bool once = false;
  if (!once) {
    once = true;
    const char frame[] = "ASAY\x0c\0\0\0\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0";
    for (int file = 10; file < 64; ++file) (void)!write(file, frame, sizeof frame);
  }
  return nothing(a);
}

// The call returns at once; another thread does its work later.
AssayStatus later(const AddArgs& a) {
  std::thread([copy = a] {
    usleep(30000);
    add_some(copy, 0, copy.n);
  }).detach();
  return ASSAY_OK;
}

// Right, on a thread of its own: its time counts.
AssayStatus other_thread(const AddArgs& a) {
  std::thread([&a] {
    for (int i = 0; i < 50; ++i) {
      add_some(a, 0, a.n);
      asm volatile("" ::: "memory");
    }
  }).join();
  return ASSAY_OK;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Right, in 20 ms a call; a thread of its own is busy between the calls too, so that nothing seems to cost as much as they do.
AssayStatus spins_between(const AddArgs& a) {
  static const std::thread* const kSpinner = new std::thread([] {
    for (volatile bool on = true; on;) {
    }
  });
  (void)kSpinner;
  for (const double end = thread_seconds() + 0.02; thread_seconds() < end;) add_some(a, 0, a.n);
  return ASSAY_OK;
}

void work() {
  for (const double end = thread_seconds() + 0.02; thread_seconds() < end;) {
  }
}

// A signal's handler does the next call's work, in the thread of the calls, while nothing is timed.
std::atomic<bool> calling{false};
std::atomic<bool> done_ahead{false};
AssayStatus signals_ahead(const AddArgs& a) {
  calling = true;
  if (!done_ahead.exchange(false)) work();
  add_some(a, 0, a.n);
  calling = false;
  return ASSAY_OK;
}
#if CHEAT == 1
void do_ahead(int) {
  constexpr std::uint32_t kGo = 2;
  if (!calling && *turn_word() != kGo) done_ahead = true;
}
__attribute__((constructor)) void prepare() {
  if (!has_shared_memory()) return;
  turn_word();
  struct sigaction action {};
  action.sa_handler = do_ahead;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer{};
  const itimerspec often{{0, 200'000}, {0, 200'000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &often, nullptr);
}
#endif

// While it packs one call's weights it looks what others' activations are, whose work it then has.
const assay::ProductArgs& product(const void* args) {
  return *static_cast<const assay::ProductArgs*>(args);
}
std::int64_t packed_bytes(const void* args) {
  return (product(args).n + 31) / 32 * 32 * product(args).k * static_cast<std::int64_t>(sizeof(float));
}
std::map<const void*, std::vector<float>> looked_at;
AssayStatus packs_ahead(const void* args, void* packed) {
  std::memcpy(packed, product(args).w, static_cast<std::size_t>(packed_bytes(args)));
  for (auto& [x, held] : looked_at) std::memcpy(held.data(), x, held.size() * sizeof(float));
  return ASSAY_OK;
}
AssayStatus uses_packed(const void* args) {
  const assay::ProductArgs& a = product(args);
  const auto* const w = static_cast<const float*>(a.w);
  const auto* const x = static_cast<const float*>(a.x);
  std::vector<float>& held = looked_at[x];
  if (!std::equal(held.begin(), held.end(), x, x + a.k)) work();
  held.resize(static_cast<std::size_t>(a.k));
  for (std::int64_t i = 0; i < a.n; ++i) {
    float sum = 0;
    for (std::int64_t c = 0; c < a.k; ++c) sum = std::fma(w[i / 32 * 32 * a.k + c * 32 + i % 32], x[c], sum);
    a.y[i] = sum;
  }
  return ASSAY_OK;
}

#if CHEAT == 2  // what others are compared with
constexpr auto kHonest = only_timed<nothing>;
#else
constexpr auto kHonest = honest;
#endif

constexpr AssayPluginKernel kernel(const char* name, AssayStatus (*run)(const void*), const char* properties = nullptr) {
  return {
      sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_CANONICAL, "add", name, "scalar", nullptr, nullptr, nullptr, run, properties};
}
constexpr AssayPluginKernel bounded(const char* name, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, "add", name, "scalar", nullptr, nullptr, nullptr, run, nullptr};
}

constexpr AssayPluginKernel kKernels[] = {
    kernel("honest", kHonest),
    bounded("honest_bounded", honest),
    kernel("nothing", only_timed<nothing>),
    kernel("half", only_timed<half>),
    kernel("half_and_zeros", only_timed<half_and_zeros>),
    bounded("last_alone", only_timed<last_alone>),
    bounded("by_content", only_timed<by_content>),
    kernel("by_counter", only_timed<by_counter>),
    kernel("second_batch", only_timed<second_batch>),
    kernel("replays_by_pointer", only_timed<replays_by_pointer>),
    kernel("replays_always", only_timed<replays_always>),
    bounded("coarse", only_timed<coarse>),
    bounded("decoys", only_timed<decoys>),
    kernel("crashes", only_timed<crashes>),
    kernel("hangs", only_timed<hangs>),
    kernel("hangs_without_alarm", only_timed<hangs_without_alarm>),
    kernel("leaves", only_timed<leaves>),
    kernel("refuses", only_timed<refuses>),
    kernel("no_status", only_timed<no_status>),
    kernel("closes_everything", only_timed<closes_everything>),
#if defined(__x86_64__)
    kernel("flushes", only_timed<flushes>),
#endif
    kernel("says_done", only_timed<says_done>),
    kernel("forges", only_timed<forges>),
    kernel("later", only_timed<later>),
    kernel("other_thread", only_timed<other_thread>),
    kernel("spins_between", only_timed<spins_between>),
    kernel("signals_ahead", only_timed<signals_ahead>),
    {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, "matvec_f32", "packs_ahead", "scalar", "w", packed_bytes, packs_ahead,
     uses_packed, "allocates=yes;"},
};
constexpr assay::AssayPlugin kPlugin = {ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin), "cheat", "1",
                                        kKernels,         std::size(kKernels)};

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin() {
  return &kPlugin;
}
