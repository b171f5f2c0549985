// A plugin whose kernels are each wrong in one way, over the op rms_norm; and some that are right, to be told from them.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "kernels/activations/activations.h"
#include "tests/plugins/norm.h"

namespace {

using assay::AddArgs;

// One unit in the last place less, where there is an output: inside the bound still.
AssayStatus nudged(const RmsNormArgs& a, bool nudge) {
  const AssayStatus status = norm(a);
  const bool any = status == ASSAY_OK && a.rows > 0 && a.n > 0 && std::isfinite(a.y[0]);
  if (any && nudge) a.y[0] = std::nextafter(a.y[0], 0.0F);
  return status;
}

// The last element of a tensor of rows, in floats from its start.
std::int64_t end_of(const RmsNormArgs& a, std::int64_t stride) {
  return a.rows > 0 ? (a.rows - 1) * stride + a.n : 0;
}

// The compiler is not to see that these go wrong.
volatile std::int64_t far_away = std::int64_t{1} << 40;
volatile int zero = 0;

AssayStatus good(const void* args) {
  return norm(call(args));
}
AssayStatus canonical_add(const void* args) {
  const AddArgs& a = *static_cast<const AddArgs*>(args);
  if (!assay_add_sizes(&a)) return ASSAY_BAD_SHAPE;
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = a.a[i] + a.b[i];
  return ASSAY_OK;
}
AssayStatus segfault(const void* args) {
  volatile float* nowhere = call(args).y;
  nowhere[far_away] = 1;
  return ASSAY_OK;
}
AssayStatus endless(const void*) {
  while (zero == 0) {
  }
  return ASSAY_OK;
}
AssayStatus sleeps(const void*) {
  for (;;) pause();
}
AssayStatus write_past(const void* args) {
  volatile float* y = call(args).y;
  const AssayStatus status = norm(call(args));
  if (status == ASSAY_OK) y[end_of(call(args), call(args).y_stride)] = 1;
  return status;
}
AssayStatus write_before(const void* args) {
  volatile float* y = call(args).y;
  const AssayStatus status = norm(call(args));
  if (status == ASSAY_OK) y[-1] = 1;
  return status;
}
AssayStatus read_past(const void* args) {
  const volatile float* x = call(args).x;
  const float past = x[end_of(call(args), call(args).x_stride)];
  return past == 12345.0F ? ASSAY_OK : norm(call(args));
}
AssayStatus throws(const void*) {
  throw std::runtime_error("no such tile");
}
AssayStatus throws_int(const void*) {
  throw 42;
}
AssayStatus throws_in_noexcept(const void* args) noexcept {  // NOLINT(bugprone-exception-escape): that is what it is for
  return throws(args);
}
AssayStatus illegal(const void*) {
#if defined(__x86_64__)
  __asm__ volatile("ud2");
#else
  __asm__ volatile(".inst 0");
#endif
  return ASSAY_OK;
}
AssayStatus aborts(const void*) {
  std::abort();
}
AssayStatus divides(const void* args) {
#if defined(__x86_64__)
  return call(args).rows / zero == 0 ? ASSAY_OK : ASSAY_BAD_SHAPE;
#else
  (void)args;
  raise(SIGFPE);
  return ASSAY_OK;
#endif
}
AssayStatus overruns_stack(const void* args) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(zero);
  const AssayStatus status = frame[0] == 0 ? overruns_stack(args) : ASSAY_OK;
  frame[1] = static_cast<char>(status);  // after the call: it is no loop
  return status;
}
AssayStatus random_result(const void* args) {
  static std::atomic<unsigned> calls{0};
  return nudged(call(args), calls++ % 2 == 1);
}
// Another rounding when there are other rows: not the same when the call is cut.
AssayStatus batch_dependent(const void* args) {
  return nudged(call(args), call(args).rows > 1);
}
AssayStatus alignment_dependent(const void* args) {
  return nudged(call(args), reinterpret_cast<std::uintptr_t>(call(args).x) % 64 == 0);
}
// Right as long as one thread runs it; a part of a call waits a while for another to be in the middle too.
AssayStatus not_thread_safe(const void* args) {
  static std::atomic<int> inside{0};
  static std::atomic<int> met{0};
  static std::atomic<int> patience{2000};  // milliseconds, in all
  const bool another = ++inside > 1;
  if (another) met = 1;
  for (int i = 0; i < 200 && !met && call(args).rows < 3 && patience-- > 0; ++i) usleep(1000);
  const AssayStatus status = nudged(call(args), met != 0);
  if (--inside == 0) met = 0;
  return status;
}
AssayStatus many_ulp(const void* args) {
  const RmsNormArgs& a = call(args);
  const AssayStatus status = norm(a);
  if (status == ASSAY_OK && a.rows > 0 && a.n > 3) a.y[3] *= 1 + 0x1p-8F;
  return status;
}
// Sizes below 0 are no rows, and of others nothing is asked.
AssayStatus takes_all_sizes(const void* args) {
  const RmsNormArgs& a = call(args);
  return a.rows < 0 || a.n < 0 ? ASSAY_OK : norm(a);
}
AssayStatus odd_status(const void*) {
  return static_cast<AssayStatus>(77 + zero);
}
AssayStatus refuses(const void*) {
  return ASSAY_BAD_PARAMETER;
}
AssayStatus exits(const void*) {
  std::exit(0);
}
AssayStatus flushes_denormals(const void* args) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);
#endif
  return norm(call(args));
}
// Rubbish where the runner's answers go; no number of a file is safe from a plugin.
AssayStatus prints(const void* args) {
  std::puts("hello from a kernel");
  std::fflush(stdout);
  return norm(call(args));
}

// Layouts of its own for w: negated.
std::int64_t packed_bytes(const void* args) {
  return call(args).n * static_cast<std::int64_t>(sizeof(float));
}
AssayStatus pack(const void* args, void* packed) {
  for (std::int64_t i = 0; i < call(args).n; ++i) static_cast<float*>(packed)[i] = -call(args).w[i];
  return ASSAY_OK;
}
AssayStatus pack_past(const void* args, void* packed) {
  static_cast<volatile float*>(packed)[call(args).n] = 1;
  return pack(args, packed);
}
AssayStatus pack_before(const void* args, void* packed) {
  static_cast<volatile float*>(packed)[-1] = 1;
  return pack(args, packed);
}
AssayStatus pack_odd_status(const void*, void*) {
  return static_cast<AssayStatus>(77 + zero);
}
std::int64_t packed_negative(const void*) {
  return -1;
}
AssayStatus pack_throws(const void*, void*) {
  throw std::bad_alloc();
}
AssayStatus run_packed(const void* args) {
  return norm(call(args), -1);
}
AssayStatus run_packed_past(const void* args) {
  const volatile float* w = call(args).w;
  const float past = w[call(args).n + 16];
  return past == 12345.0F ? ASSAY_OK : run_packed(args);
}

constexpr AssayPluginKernel kernel(const char* name, AssayStatus (*run)(const void*), int claim = assay::ASSAY_CLAIM_BOUNDED,
                                   const char* isa = "scalar") {
  return {sizeof(AssayPluginKernel), claim, "rms_norm", name, isa, nullptr, nullptr, nullptr, run, nullptr};
}
constexpr AssayPluginKernel packed(const char* name, std::int64_t (*bytes)(const void*), AssayStatus (*pack)(const void*, void*),
                                   AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, "rms_norm", name, "scalar", "w", bytes, pack, run, nullptr};
}

const AssayPluginKernel kKernels[] = {
    kernel("good", good),
    {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_CANONICAL, "add", "canonical", "scalar", nullptr, nullptr, nullptr,
     canonical_add, ""},
    packed("packed", packed_bytes, pack, run_packed),
    kernel("prints", prints),
    kernel("segfault", segfault),
    kernel("endless", endless),
    kernel("sleeps", sleeps),
    kernel("write_past", write_past),
    kernel("write_before", write_before),
    kernel("read_past", read_past),
    kernel("throws", throws),
    kernel("throws_int", throws_int),
    kernel("throws_in_noexcept", throws_in_noexcept),
    kernel("illegal", illegal),
    kernel("aborts", aborts),
    kernel("divides", divides),
    kernel("overruns_stack", overruns_stack),
    kernel("random", random_result),
    kernel("batch", batch_dependent),
    kernel("alignment", alignment_dependent),
    kernel("threads", not_thread_safe),
    kernel("many_ulp", many_ulp),
    kernel("not_canonical", good, assay::ASSAY_CLAIM_CANONICAL),
    kernel("takes_all_sizes", takes_all_sizes),
    kernel("odd_status", odd_status),
    kernel("refuses", refuses),
    kernel("exits", exits),
    kernel("flushes", flushes_denormals),
    packed("pack_past", packed_bytes, pack_past, run_packed),
    packed("pack_before", packed_bytes, pack_before, run_packed),
    packed("pack_odd_status", packed_bytes, pack_odd_status, run_packed),
    packed("pack_negative", packed_negative, pack, run_packed),
    packed("pack_throws", packed_bytes, pack_throws, run_packed),
    packed("packed_read_past", packed_bytes, pack, run_packed_past),
};

const assay::AssayPlugin kPlugin = {ASSAY_PLUGIN_ABI,
                                    sizeof(assay::AssayPlugin),
                                    "bad",
                                    "1.0",
                                    kKernels,
                                    static_cast<std::int64_t>(sizeof kKernels / sizeof kKernels[0])};

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return &kPlugin;
}
