/* What a kernel may ask of the CPU at run time, beyond its ISA. No header of the C++ library, so that an ISA's file may include it. */
#pragma once

namespace assay {

/* True where the hardware follows one ascending stream as fast as memory gives it, so that software prefetch only costs: AMD's
   family 19h (Zen 3, Zen 4), where every distance took 2 to 40 % of the read roof. Elsewhere prefetch decides: Emerald Rapids
   reads 65 % of its roof without and 95 % with, one core of a Zen 5 20.6 GB/s of q4_k and 31.3. */
static inline bool follows_streams() noexcept {
#if defined(__x86_64__)
  return __builtin_cpu_is("amdfam19h") != 0;
#else
  return false;
#endif
}

}  // namespace assay
