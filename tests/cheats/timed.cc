// Kernels that are honest in a check and cheat on the clock. Compiled once for each CHEAT that is done while the library is loaded. Each of `add`
// is canonical, but for what its name says.
#include "tests/cheats/elsewhere.h"
#include "tests/cheats/unfinished.h"

namespace {

using assay::AssayPluginKernel;

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

constexpr AssayPluginKernel packing(const char* name, AssayStatus (*pack)(const void*, void*), AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, "matvec_f32", name, "scalar", "w", packed_bytes, pack, run,
          "allocates=yes;"};
}
constexpr AssayPluginKernel of_exp(const char* name, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), assay::ASSAY_CLAIM_BOUNDED, "exp", name, "scalar", nullptr, nullptr, nullptr, run,
          "allocates=yes;"};
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
    kernel("skips_laps", only_timed<skips_laps>),
    kernel("forges", only_timed<forges>),
    kernel("later", only_timed<later>),
    kernel("other_thread", only_timed<other_thread>),
    kernel("spins_between", only_timed<spins_between>),
    kernel("ahead", only_timed<ahead>),
    kernel("quick_once", only_timed<quick_once>),
    kernel("stumbles_once", only_timed<stumbles_once>),
    kernel("works_for_others", only_timed<works_for_others>),
    packing("packs_ahead", packs_ahead, uses_packed),
    packing("packs_narrow", packs_narrow, multiplies_packed),
    of_exp("honest", exp_slowly),
    of_exp("remembers_numbers", remembers_numbers),
    of_exp("remembers_places", remembers_places),
};
constexpr assay::AssayPlugin kPlugin = {ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin), "cheat", "1",
                                        kKernels,         std::size(kKernels)};

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin() {
  return &kPlugin;
}
