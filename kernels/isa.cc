#include "kernels/isa.h"

#include <atomic>
#include <cstdlib>

#include "kernels/kernels.h"
#include "kernels/words.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>
#endif

namespace assay {
namespace {

constexpr std::uint32_t kTiles = 0x60000;  // of xgetbv's answers: the tiles and their configuration

constexpr bool has_bit(unsigned word, unsigned bit) {
  return ((word >> bit) & 1u) != 0;
}

#if defined(__x86_64__)

struct Cpuid {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Cpuid cpuid(unsigned leaf, unsigned subleaf) noexcept {
  Cpuid out;
  if (__get_cpuid_count(leaf, subleaf, &out.eax, &out.ebx, &out.ecx, &out.edx) == 0) return {};
  return out;
}

// 0: XCR0, which registers the operating system saves; read only where CPUID says OSXSAVE. 1: which of them are in use.
unsigned xgetbv(unsigned which) noexcept {
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(which));
  return low;
}

// Linux gives a process the tiles' registers, 8 KiB a thread, where it asks for them.
bool request_tiles() {
  constexpr long kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;     // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

CpuFeatures detect() noexcept {
  const Cpuid basic = cpuid(1, 0);
  const Cpuid extended = cpuid(7, 0);
  const bool osxsave = has_bit(basic.ecx, 27);
  const CpuFeatures tells_use = has_bit(cpuid(13, 1).eax, 2) ? CpuFeatures{kCpuTellsUse} : 0;
  return tells_use | features_of({basic.ecx, extended.ebx, extended.ecx, extended.edx, cpuid(7, 1).eax, osxsave ? xgetbv(0) : 0},
                                 request_tiles);
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
    const std::ptrdiff_t alike = common_prefix(name, row.name);
    if (alike <= most || !isa_selectable(row.isa)) continue;
    nearest = row.isa;
    most = alike;
  }
  return nearest;
}

// The first on the way down that may be chosen here.
Isa nearest_included(Isa isa) {
  while (!isa_selectable(isa)) isa = isa_row(isa).includes;
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

CpuFeatures features_of(const CpuAnswers& cpu, bool (*may_use_tiles)()) noexcept {
  constexpr std::uint32_t kYmm = 0x06;  // SSE and AVX state
  constexpr std::uint32_t kZmm = 0xe6;  // and opmask, upper ZMM
  CpuFeatures found = 0;
  const auto add = [&found](CpuFeatures feature, bool there) { found |= there ? feature : 0; };
  add(kCpuYmm, (cpu.xcr0 & kYmm) == kYmm);
  add(kCpuZmm, (cpu.xcr0 & kZmm) == kZmm);
  add(kCpuFma, has_bit(cpu.leaf1_ecx, 12));
  add(kCpuF16c, has_bit(cpu.leaf1_ecx, 29));
  add(kCpuAvx2, has_bit(cpu.leaf7_ebx, 5));
  add(kCpuAvxVnni, has_bit(cpu.leaf7_1_eax, 4));
  add(kCpuAvx512Core, has_bit(cpu.leaf7_ebx, 16) && has_bit(cpu.leaf7_ebx, 30) && has_bit(cpu.leaf7_ebx, 31));
  add(kCpuAvx512Vnni, has_bit(cpu.leaf7_ecx, 11));
  const bool byte_tiles = has_bit(cpu.leaf7_edx, 24) && has_bit(cpu.leaf7_edx, 25);
  add(kCpuAmxInt8, byte_tiles);
  add(kCpuTiles, byte_tiles && (cpu.xcr0 & kTiles) == kTiles && may_use_tiles());
  return found;
}

bool isa_supported(Isa isa) noexcept {
  return isa_runs(cpu_features(), isa);
}

bool isa_selectable(Isa isa) noexcept {
  return isa_allowed(cpu_features(), std::nullopt, isa);
}

Isa best_isa() noexcept {
  return best_isa(cpu_features());
}

Words& list_supported_isas(Words& words) noexcept {
  const char* between = "";
  for (const IsaRow& row : kIsas) {
    if (!isa_selectable(row.isa)) continue;
    words << between << row.name;
    between = ", ";
  }
  return words;
}

IsaLimit limit_from_name(std::string_view whence, std::string_view name, Words& why) noexcept {
  const std::optional<Isa> isa = isa_from_name(name);
  if (isa && isa_selectable(*isa)) return isa;
  why << whence << name;
  if (!isa) {
    why << ": no such ISA; did you mean " << isa_name(nearest_supported(name)) << "?";
  } else if (isa_row(*isa).is_model()) {
    why << ": a model in software, which `assay check --isa` runs and nothing chooses; the nearest that may be chosen is "
        << isa_name(nearest_included(*isa)) << ".";
  } else {
    why << ": this machine cannot run it; the nearest that it can is " << isa_name(nearest_included(*isa)) << ".";
  }
  why << " Supported here: ";
  list_supported_isas(why) << ".";
  return std::nullopt;
}

const char* forced_isa_name() noexcept {
  const char* const name = std::getenv("ASSAY_ISA");
  return name == nullptr || *name == '\0' ? nullptr : name;
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

bool take_back_tiles() noexcept {
#if defined(__x86_64__)
  constexpr CpuFeatures kNeeded = kCpuTiles | kCpuTellsUse;
  if ((cpu_features() & kNeeded) != kNeeded || (xgetbv(1) & kTiles) == 0) return false;
  __asm__ volatile("tilerelease");
  return true;
#else
  return false;
#endif
}

}  // namespace assay
