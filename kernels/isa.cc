#include "kernels/isa.h"

#include <algorithm>
#include <atomic>

#include "kernels/kernels.h"
#include "kernels/words.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <xmmintrin.h>
#endif

namespace assay {
namespace {

#if defined(__x86_64__)

struct Cpuid {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Cpuid cpuid(unsigned leaf, unsigned subleaf) noexcept {
  Cpuid out;
  if (__get_cpuid_count(leaf, subleaf, &out.eax, &out.ebx, &out.ecx, &out.edx) == 0) return {};
  return out;
}

constexpr bool has_bit(unsigned word, unsigned bit) {
  return ((word >> bit) & 1u) != 0;
}

// XCR0: which registers the operating system saves. Read only where CPUID says OSXSAVE.
unsigned xcr0() noexcept {
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

CpuFeatures detect() noexcept {
  const Cpuid basic = cpuid(1, 0);
  const Cpuid extended = cpuid(7, 0);
  const Cpuid extended1 = cpuid(7, 1);
  constexpr unsigned kYmm = 0x06;  // SSE and AVX state
  constexpr unsigned kZmm = 0xe6;  // and opmask, upper ZMM
  const bool osxsave = has_bit(basic.ecx, 27);
  const unsigned saved = osxsave ? xcr0() : 0;
  CpuFeatures found = 0;
  const auto add = [&found](CpuFeatures feature, bool there) { found |= there ? feature : 0; };
  add(kCpuYmm, (saved & kYmm) == kYmm);
  add(kCpuZmm, (saved & kZmm) == kZmm);
  add(kCpuFma, has_bit(basic.ecx, 12));
  add(kCpuF16c, has_bit(basic.ecx, 29));
  add(kCpuAvx2, has_bit(extended.ebx, 5));
  add(kCpuAvxVnni, has_bit(extended1.eax, 4));
  add(kCpuAvx512Core, has_bit(extended.ebx, 16) && has_bit(extended.ebx, 30) && has_bit(extended.ebx, 31));
  add(kCpuAvx512Vnni, has_bit(extended.ecx, 11));
  return found;
}

#else

CpuFeatures detect() noexcept {
  return 0;
}

#endif

// The supported one whose name begins most like `name`.
Isa nearest_supported(std::string_view name) {
  Isa nearest = Isa::scalar;
  std::ptrdiff_t most = -1;
  for (const IsaRow& row : kIsas) {
    const std::ptrdiff_t alike = std::mismatch(name.begin(), name.end(), row.name.begin(), row.name.end()).first - name.begin();
    if (alike <= most || !isa_supported(row.isa)) continue;
    nearest = row.isa;
    most = alike;
  }
  return nearest;
}

// The first on the way down that this machine runs.
Isa nearest_included(Isa isa) {
  while (!isa_supported(isa)) isa = isa_row(isa).includes;
  return isa;
}

}  // namespace

std::optional<Isa> isa_from_name(std::string_view name) noexcept {
  for (const IsaRow& row : kIsas) {
    if (row.name == name) return row.isa;
  }
  return std::nullopt;
}

// Not a static with an initializer: its guard is the C++ runtime's.
CpuFeatures cpu_features() noexcept {
  constexpr CpuFeatures kNotAsked = ~CpuFeatures{0};
  static std::atomic<CpuFeatures> known{kNotAsked};
  CpuFeatures features = known.load(std::memory_order_relaxed);
  if (features == kNotAsked) {
    features = detect();
    known.store(features, std::memory_order_relaxed);
  }
  return features;
}

bool isa_supported(Isa isa) noexcept {
  return isa_runs(cpu_features(), isa);
}

Isa best_isa() noexcept {
  return best_isa(cpu_features());
}

Words& list_supported_isas(Words& words) noexcept {
  const char* between = "";
  for (const IsaRow& row : kIsas) {
    if (!isa_supported(row.isa)) continue;
    words << between << row.name;
    between = ", ";
  }
  return words;
}

IsaLimit limit_from_name(std::string_view whence, std::string_view name, Words& why) noexcept {
  const std::optional<Isa> isa = isa_from_name(name);
  if (isa && isa_supported(*isa)) return isa;
  why << whence << name << (isa ? ": this machine cannot run it; the nearest that it can is " : ": no such ISA; did you mean ")
      << isa_name(isa ? nearest_included(*isa) : nearest_supported(name)) << (isa ? "." : "?") << " Supported here: ";
  list_supported_isas(why) << ".";
  return std::nullopt;
}

const char* assay_float_fault() {
#if defined(__x86_64__)
  const unsigned control = _mm_getcsr();
  const bool rounds_to_nearest = (control & 0x6000u) == 0;
  const bool flushes = (control & 0x8040u) != 0;  // FTZ, DAZ
#elif defined(__aarch64__)
  unsigned long control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  const bool rounds_to_nearest = (control & 0xc00000ul) == 0;
  const bool flushes = (control & 0x1080001ul) != 0;  // FZ, FZ16, FIZ
#else
#error "assay_float_fault: this architecture's control register is not known"
#endif
  if (!rounds_to_nearest) return "this thread does not round to nearest: reset it with fesetround(FE_TONEAREST)";
  return flushes ? "this thread flushes denormals (FTZ, DAZ or FZ): was something linked with -ffast-math?" : nullptr;
}

}  // namespace assay
