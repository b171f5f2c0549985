#include "kernels/isa.h"

#include <cstdlib>
#include <stdexcept>

#include "kernels/edit_distance.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <xmmintrin.h>
#endif

namespace assay {
namespace {

constexpr std::string_view kNames[] = {"scalar", "avx2", "avx512", "avx512vnni"};

#if defined(__x86_64__)

struct Cpuid {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Cpuid cpuid(unsigned leaf) noexcept {
  Cpuid out;
  if (__get_cpuid_count(leaf, 0, &out.eax, &out.ebx, &out.ecx, &out.edx) == 0) return {};
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

Isa detect() noexcept {
  const Cpuid basic = cpuid(1);
  const Cpuid extended = cpuid(7);
  constexpr unsigned kYmm = 0x06;  // SSE and AVX state
  constexpr unsigned kZmm = 0xe6;  // and opmask, upper ZMM
  const bool osxsave = has_bit(basic.ecx, 27);
  const unsigned saved = osxsave ? xcr0() : 0;
  const bool fma = has_bit(basic.ecx, 12);
  const bool f16c = has_bit(basic.ecx, 29);
  const bool avx2 = has_bit(extended.ebx, 5);
  if ((saved & kYmm) != kYmm || !fma || !f16c || !avx2) return Isa::scalar;
  const bool f = has_bit(extended.ebx, 16);
  const bool bw = has_bit(extended.ebx, 30);
  const bool vl = has_bit(extended.ebx, 31);
  if ((saved & kZmm) != kZmm || !f || !bw || !vl) return Isa::avx2;
  return has_bit(extended.ecx, 11) ? Isa::avx512vnni : Isa::avx512;
}

#else

Isa detect() noexcept {
  return Isa::scalar;
}

#endif

std::string_view nearest_supported(std::string_view name) {
  std::string_view nearest = isa_name(Isa::scalar);
  for (const Isa isa : kAllIsas) {
    if (isa_supported(isa) && edit_distance(name, isa_name(isa)) < edit_distance(name, nearest)) nearest = isa_name(isa);
  }
  return nearest;
}

}  // namespace

std::string_view isa_name(Isa isa) noexcept {
  return kNames[static_cast<std::size_t>(isa)];
}

std::optional<Isa> isa_from_name(std::string_view name) noexcept {
  for (const Isa isa : kAllIsas) {
    if (isa_name(isa) == name) return isa;
  }
  return std::nullopt;
}

// Each ISA includes those before it, so that the best one decides.
bool isa_supported(Isa isa) noexcept {
  return isa <= best_isa();
}

Isa best_isa() noexcept {
  static const Isa best = detect();
  return best;
}

std::string supported_isa_names() {
  std::string names;
  for (const Isa isa : kAllIsas) {
    if (!isa_supported(isa)) continue;
    if (!names.empty()) names += ", ";
    names += isa_name(isa);
  }
  return names;
}

Isa selected_isa() {
  const char* forced = std::getenv("ASSAY_ISA");
  if (forced == nullptr || *forced == '\0') return best_isa();
  const std::optional<Isa> isa = isa_from_name(forced);
  if (isa && isa_supported(*isa)) return *isa;
  std::string message = "ASSAY_ISA=" + std::string(forced) + ": ";
  message += isa ? "this machine cannot run it; the nearest that it can is " : "no such ISA; did you mean ";
  message += isa ? isa_name(best_isa()) : nearest_supported(forced);
  message += isa ? "." : "?";
  throw std::invalid_argument(message + " Supported here: " + supported_isa_names() + ".");
}

void assert_float_environment() {
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
#error "assert_float_environment: this architecture's control register is not known"
#endif
  if (!rounds_to_nearest)
    throw std::runtime_error("this thread does not round to nearest: reset it with fesetround(FE_TONEAREST)");
  if (flushes) {
    throw std::runtime_error("this thread flushes denormals (FTZ, DAZ or FZ): was something linked with -ffast-math?");
  }
}

}  // namespace assay
