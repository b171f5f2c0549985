// Which instruction sets this CPU has, and which one the user forced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Ascending: a later one is preferred where a kernel has it. Each names all that its kernels may use:
//   scalar      the baseline of the architecture
//   avx2        AVX2, FMA, F16C
//   avx512      AVX-512 F, BW, VL (and all of avx2)
//   avx512vnni  AVX-512 VNNI (and all of avx512)
enum class Isa : std::uint8_t { scalar, avx2, avx512, avx512vnni };

inline constexpr Isa kAllIsas[] = {Isa::scalar, Isa::avx2, Isa::avx512, Isa::avx512vnni};

std::string_view isa_name(Isa isa) noexcept;
std::optional<Isa> isa_from_name(std::string_view name) noexcept;

// True if this CPU and operating system can run kernels of `isa`.
bool isa_supported(Isa isa) noexcept;

// The best supported ISA.
Isa best_isa() noexcept;

// The ISA that selection is limited to: ASSAY_ISA if set and not empty, else the best. An unknown or unsupported name
// throws std::invalid_argument that lists those that this machine can run. Read anew at each call.
Isa selected_isa();

// "scalar, avx2, avx512": the names this machine supports, for messages.
std::string supported_isa_names();

// Throws std::runtime_error unless rounding is to nearest and denormals are kept (FTZ, DAZ, FZ16 off) in
// the calling thread: every bound and every digest assumes it.
void assert_float_environment();

}  // namespace assay
