// Which instruction sets this CPU has, and which one the user forced. What there is stands in kernels/isa.inc, a row each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

// What a CPU and its operating system offer, a bit each.
using CpuFeatures = std::uint32_t;
enum : CpuFeatures {
  kCpuYmm = 1u << 0,  // the system saves the registers of AVX
  kCpuZmm = 1u << 1,  // and those of AVX-512
  kCpuAvx2 = 1u << 2,
  kCpuFma = 1u << 3,
  kCpuF16c = 1u << 4,
  kCpuAvxVnni = 1u << 5,
  kCpuAvx512Core = 1u << 6,  // F, BW and VL
  kCpuAvx512Vnni = 1u << 7,
  kCpuTiles = 1u << 8,  // the system saves AMX's tiles, and lets this process use them
  kCpuAmxInt8 = 1u << 9,
  kCpuTellsUse = 1u << 10,  // xgetbv(1) says which registers are in use
};

enum class Isa : std::uint8_t {
#define ASSAY_ISA(name, architecture, includes, source, features, flags) name,
#include "kernels/isa.inc"
#undef ASSAY_ISA
};

struct IsaRow {
  Isa isa;
  std::string_view name;
  Isa includes;  // itself: nothing else
  Isa source;    // another: it stands in for that one
  CpuFeatures features;

  // It stands in by a model in software, not by instructions: checked, and never chosen or timed.
  constexpr bool is_model() const { return source != isa && features == 0; }
};

inline constexpr IsaRow kIsas[] = {
#define ASSAY_ISA(name, architecture, includes, source, features, flags) {Isa::name, #name, Isa::includes, Isa::source, features},
#include "kernels/isa.inc"
#undef ASSAY_ISA
};

constexpr const IsaRow& isa_row(Isa isa) {
  return kIsas[static_cast<std::size_t>(isa)];
}
constexpr std::string_view isa_name(Isa isa) {
  return isa_row(isa).name;
}

// Whether who has `whole` has `part` with it.
constexpr bool isa_includes(Isa whole, Isa part) {
  while (whole != part && isa_row(whole).includes != whole) whole = isa_row(whole).includes;
  return whole == part;
}

// Whether a CPU with these features runs kernels of `isa`: it has those of every ISA on the way down.
constexpr bool isa_runs(CpuFeatures cpu, Isa isa) {
  for (;; isa = isa_row(isa).includes) {
    if ((cpu & isa_row(isa).features) != isa_row(isa).features) return false;
    if (isa_row(isa).includes == isa) return true;
  }
}

// What a choice is limited to: kernels of the ISAs that this one includes; nothing: every one that the CPU runs.
using IsaLimit = std::optional<Isa>;

// Whether a kernel of `isa` may be chosen on such a CPU within `limit`.
constexpr bool isa_allowed(CpuFeatures cpu, IsaLimit limit, Isa isa) {
  return isa_runs(cpu, isa) && !isa_row(isa).is_model() && (!limit || isa_includes(*limit, isa));
}

class Words;

// The most preferred one that may.
constexpr Isa best_isa(CpuFeatures cpu) {
  Isa best = Isa::scalar;
  for (const IsaRow& row : kIsas) {
    if (isa_allowed(cpu, std::nullopt, row.isa)) best = row.isa;
  }
  return best;
}

// What CPUID and XCR0 say, as far as it is asked for.
struct CpuAnswers {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint32_t leaf7_edx = 0;
  std::uint32_t leaf7_1_eax = 0;
  std::uint32_t xcr0 = 0;  // which registers the system saves; 0 where it does not say
};

// What that means. `may_use_tiles` asks the system for AMX's tiles, which Linux gives a process on request alone: called once, where CPU and XCR0
// have them.
CpuFeatures features_of(const CpuAnswers& cpu, bool (*may_use_tiles)()) noexcept;

std::optional<Isa> isa_from_name(std::string_view name) noexcept;
// As a limit; nothing where there is no such ISA or this machine cannot run it: `why` then names those that it can. `whence` comes
// before the name there.
IsaLimit limit_from_name(std::string_view whence, std::string_view name, Words& why) noexcept;

// Of this machine; asked once.
CpuFeatures cpu_features() noexcept;
bool isa_supported(Isa isa) noexcept;
bool isa_selectable(Isa isa) noexcept;  // supported, and no model
Isa best_isa() noexcept;

inline constexpr std::string_view kForcedIsa = "ASSAY_ISA=";
// What ASSAY_ISA says; null if it is unset or empty.
const char* forced_isa_name() noexcept;
// The ISA of that name; nothing if that is null. An unknown or unsupported name, or a model's, throws std::invalid_argument that
// lists those that this machine can run. Read anew at each call.
IsaLimit forced_isa();
// The same, or else the best: what messages and reports name.
Isa selected_isa();

// "scalar, avx2, avx512": the names that are selectable on this machine, for messages.
std::string supported_isa_names();
Words& list_supported_isas(Words& words) noexcept;

// Throws std::runtime_error where assay_float_fault (kernels/kernels.h) finds one.
void assert_float_environment();

// Whether the calling thread's tiles (AMX) are configured, as no kernel leaves them; releases them. False where the CPU has none.
bool take_back_tiles() noexcept;

}  // namespace assay
