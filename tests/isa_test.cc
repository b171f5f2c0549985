// ASSAY_ISA and the float environment.
#include "kernels/isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/op_tables.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay::isa_test {
namespace {

// CPUs of others. ISAs go by inclusion and by no order: AVX-VNNI and AVX-512 each exist without the other.

constexpr CpuFeatures kSse = 0;
constexpr CpuFeatures kHaswell = kCpuYmm | kCpuAvx2 | kCpuFma | kCpuF16c;
constexpr CpuFeatures kAlderLake = kHaswell | kCpuAvxVnni;
constexpr CpuFeatures kSkylakeServer = kHaswell | kCpuZmm | kCpuAvx512Core;
constexpr CpuFeatures kZen4 = kSkylakeServer | kCpuAvx512Vnni;
constexpr CpuFeatures kZen5 = kZen4 | kCpuAvxVnni;
constexpr CpuFeatures kSapphireRapids = kZen5 | kCpuTiles | kCpuAmxInt8;
constexpr CpuFeatures kEmeraldRapids = kSapphireRapids;
constexpr CpuFeatures kSapphireRapidsWithoutItsTiles = kSapphireRapids & ~kCpuTiles;
constexpr CpuFeatures kZen4WhoseSystemSavesNoZmm = kZen4 & ~kCpuZmm;
constexpr CpuFeatures kZen5WhoseSystemSavesNoZmm = kZen5 & ~kCpuZmm;
constexpr CpuFeatures kZen5WhoseSystemSavesNoYmm = kZen5 & ~(kCpuYmm | kCpuZmm);

constexpr bool is_among(std::initializer_list<Isa> isas, Isa isa) {
  return std::find(isas.begin(), isas.end(), isa) != isas.end();
}

// Whether such a CPU runs these alone, prefers the last, and is given none but these, within a limit none that the limit does not include.
// Models run wherever what they include does, and are given to none.
constexpr bool runs_just(CpuFeatures cpu, std::initializer_list<Isa> isas) {
  for (const IsaRow& row : kIsas) {
    if (row.is_model()) {
      if (isa_runs(cpu, row.isa) != is_among(isas, row.includes) || isa_allowed(cpu, std::nullopt, row.isa)) return false;
      continue;
    }
    if (isa_runs(cpu, row.isa) != is_among(isas, row.isa)) return false;
    if (isa_allowed(cpu, std::nullopt, row.isa) != is_among(isas, row.isa)) return false;
    for (const IsaRow& limit : kIsas) {
      if (isa_allowed(cpu, limit.isa, row.isa) != (is_among(isas, row.isa) && isa_includes(limit.isa, row.isa))) return false;
    }
  }
  return best_isa(cpu) == *(isas.end() - 1);
}

using enum Isa;
static_assert(runs_just(kSse, {scalar}));
static_assert(runs_just(kHaswell, {scalar, avx2}));
static_assert(runs_just(kAlderLake, {scalar, avx2, avxvnni}));
static_assert(runs_just(kSkylakeServer, {scalar, avx2, avx512}));
static_assert(runs_just(kZen4, {scalar, avx2, avxvnni_evex, avx512, avx512vnni}));
static_assert(runs_just(kSapphireRapids, {scalar, avx2, avxvnni_evex, avxvnni, avx512, avx512vnni, amx_int8}));
static_assert(runs_just(kEmeraldRapids, {scalar, avx2, avxvnni_evex, avxvnni, avx512, avx512vnni, amx_int8}));
static_assert(runs_just(kSapphireRapidsWithoutItsTiles, {scalar, avx2, avxvnni_evex, avxvnni, avx512, avx512vnni}));
static_assert(runs_just(kZen5, {scalar, avx2, avxvnni_evex, avxvnni, avx512, avx512vnni}));
static_assert(runs_just(kZen4WhoseSystemSavesNoZmm, {scalar, avx2}));
static_assert(runs_just(kZen5WhoseSystemSavesNoZmm, {scalar, avx2, avxvnni}));
static_assert(runs_just(kZen5WhoseSystemSavesNoYmm, {scalar}));
static_assert(runs_just(kHaswell & ~kCpuFma, {scalar}));
static_assert(runs_just(kHaswell & ~kCpuF16c, {scalar}));
static_assert(runs_just(kCpuYmm | kCpuAvxVnni, {scalar}));  // a bit without those of what it includes
static_assert(runs_just(kHaswell | kCpuTiles | kCpuAmxInt8, {scalar, avx2}));

// Whether `whole` has these with it and no other.
constexpr bool includes_just(Isa whole, std::initializer_list<Isa> parts) {
  return std::all_of(std::begin(kIsas), std::end(kIsas),
                     [&](const IsaRow& row) { return isa_includes(whole, row.isa) == is_among(parts, row.isa); });
}

static_assert(includes_just(scalar, {scalar}));
static_assert(includes_just(avx2, {scalar, avx2}));
static_assert(includes_just(avxvnni_evex, {scalar, avx2, avxvnni_evex}));
static_assert(includes_just(avxvnni, {scalar, avx2, avxvnni}));
static_assert(includes_just(avx512, {scalar, avx2, avx512}));
static_assert(includes_just(avx512vnni, {scalar, avx2, avx512, avx512vnni}));
static_assert(includes_just(amx_int8_model, {scalar, avx2, amx_int8_model}));
static_assert(includes_just(amx_int8, {scalar, avx2, avx512, avx512vnni, amx_int8}));

// A row is its own place in the table, and stands after what it includes.
static_assert(std::all_of(std::begin(kIsas), std::end(kIsas),
                          [](const IsaRow& row) { return &isa_row(row.isa) == &row && row.includes <= row.isa; }));

// What a CPU within a limit takes of a table that has a kernel of every ISA, most preferred first.
constexpr Isa choice(CpuFeatures cpu, IsaLimit limit) {
  for (std::size_t i = std::size(kIsas); i-- > 0;) {
    if (isa_allowed(cpu, limit, kIsas[i].isa)) return kIsas[i].isa;
  }
  return scalar;
}

static_assert(choice(kZen5, std::nullopt) == avx512vnni);
static_assert(choice(kZen5, avxvnni) == avxvnni && choice(kSapphireRapids, avxvnni) == avxvnni);  // never AVX-512
static_assert(choice(kZen5, avxvnni_evex) == avxvnni_evex && choice(kZen4, avxvnni_evex) == avxvnni_evex);
static_assert(choice(kZen4, std::nullopt) == avx512vnni && choice(kZen4, avx512) == avx512 && choice(kZen4, avx2) == avx2);
static_assert(choice(kSapphireRapids, std::nullopt) == amx_int8 && choice(kSapphireRapids, avx512vnni) == avx512vnni);
static_assert(choice(kSapphireRapidsWithoutItsTiles, std::nullopt) == avx512vnni);
static_assert(choice(kHaswell, std::nullopt) == avx2 && choice(kHaswell, amx_int8_model) == avx2);
static_assert(choice(kAlderLake, std::nullopt) == avxvnni && choice(kAlderLake, avx2) == avx2);
static_assert(choice(kZen5, scalar) == scalar && choice(kSse, std::nullopt) == scalar);

// CPUID's answers of a Sapphire Rapids under Linux, as far as they are asked for.
constexpr CpuAnswers kSapphireRapidsAnswers = {.leaf1_ecx = 1u << 12 | 1u << 27 | 1u << 29,
                                               .leaf7_ebx = 1u << 5 | 1u << 16 | 1u << 30 | 1u << 31,
                                               .leaf7_ecx = 1u << 11,
                                               .leaf7_edx = 1u << 22 | 1u << 24 | 1u << 25,
                                               .leaf7_1_eax = 1u << 4,
                                               .xcr0 = 0x602e7};

int asked = 0;  // for tiles
bool given() {
  ++asked;
  return true;
}
bool denied() {
  ++asked;
  return false;
}

// The features that follow where the system answers so to `asks` requests.
CpuFeatures features(const CpuAnswers& cpu, bool (*answer)(), int asks) {
  asked = 0;
  const CpuFeatures found = features_of(cpu, answer);
  EXPECT_EQ(asked, asks);
  return found;
}

// With CPUID faked, since no CPU at hand has tiles: what keeps them from it, one thing at a time.
TEST(Isa, TilesNeedTheCpuTheSystemAndItsPermission) {
  const CpuAnswers& all = kSapphireRapidsAnswers;
  EXPECT_EQ(features(all, given, 1), kSapphireRapids);
  EXPECT_EQ(features(all, denied, 1), kSapphireRapidsWithoutItsTiles);
  for (const std::uint32_t unsaved : {1u << 17, 1u << 18}) {
    CpuAnswers cpu = all;
    cpu.xcr0 &= ~unsaved;
    EXPECT_EQ(features(cpu, given, 0), kSapphireRapidsWithoutItsTiles) << unsaved;
  }
  for (const std::uint32_t lacking : {1u << 24, 1u << 25}) {  // AMX-TILE, AMX-INT8
    CpuAnswers cpu = all;
    cpu.leaf7_edx &= ~lacking;
    EXPECT_EQ(features(cpu, given, 0), kZen5) << lacking;
  }
  CpuAnswers cpu = all;
  cpu.leaf7_ecx = 0;
  EXPECT_FALSE(isa_runs(features(cpu, given, 1), amx_int8)) << "without AVX-512 VNNI, which it includes";
  EXPECT_EQ(features({}, given, 0), 0u);
}

TEST(Isa, NoKernelLeavesTilesBehindWhereThereAreNone) {
  EXPECT_FALSE(take_back_tiles());
}

// Sets ASSAY_ISA for a test, and puts back what was there.
class ForcedIsa {
 public:
  explicit ForcedIsa(const char* value) {
    if (const char* old = std::getenv("ASSAY_ISA")) old_ = old;
    if (value != nullptr) {
      setenv("ASSAY_ISA", value, 1);
    } else {
      unsetenv("ASSAY_ISA");
    }
  }
  ~ForcedIsa() {
    if (old_) {
      setenv("ASSAY_ISA", old_->c_str(), 1);
    } else {
      unsetenv("ASSAY_ISA");
    }
  }
  ForcedIsa(const ForcedIsa&) = delete;
  ForcedIsa& operator=(const ForcedIsa&) = delete;

 private:
  std::optional<std::string> old_;
};

// The message of the error that selected_isa() throws, or "" if it throws none.
std::string refusal(const char* value) {
  const ForcedIsa forced(value);
  try {
    selected_isa();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Isa, NamesGoBothWays) {
  for (const IsaRow& row : kIsas) {
    EXPECT_EQ(isa_from_name(row.name), row.isa);
    EXPECT_EQ(isa_name(row.isa), row.name);
  }
  EXPECT_EQ(isa_from_name("AVX2"), std::nullopt);
  EXPECT_EQ(isa_from_name(""), std::nullopt);
}

TEST(Isa, ScalarIsAlwaysSupportedAndEachWithWhatItIncludes) {
  EXPECT_TRUE(isa_supported(Isa::scalar));
  EXPECT_TRUE(isa_supported(best_isa()));
  for (const IsaRow& row : kIsas) {
    EXPECT_EQ(isa_supported(row.isa), isa_runs(cpu_features(), row.isa)) << row.name;
    EXPECT_EQ(isa_selectable(row.isa), isa_supported(row.isa) && !row.is_model()) << row.name;
    EXPECT_TRUE(!isa_supported(row.isa) || isa_supported(row.includes)) << row.name;
    EXPECT_TRUE(!isa_selectable(row.isa) || row.isa <= best_isa()) << row.name;
  }
}

TEST(Isa, UnsetOrEmptyMeansTheBest) {
  for (const char* value : {static_cast<const char*>(nullptr), ""}) {
    const ForcedIsa forced(value);
    EXPECT_EQ(selected_isa(), best_isa());
    EXPECT_EQ(forced_isa(), std::nullopt);
  }
}

TEST(Isa, AForcedOneIsReadAnewAtEachCall) {
  for (const IsaRow& row : kIsas) {
    if (!isa_selectable(row.isa)) continue;
    const ForcedIsa forced(std::string(row.name).c_str());
    EXPECT_EQ(selected_isa(), row.isa);
    EXPECT_EQ(forced_isa(), row.isa);
    for (const OpTable& table : op_tables()) {
      EXPECT_TRUE(isa_includes(row.isa, select_kernel(table).isa)) << select_kernel(table).name << " under " << row.name;
    }
    EXPECT_EQ(&select_kernel(kernel_tables::add), &select_kernel(kernel_tables::add, row.isa));
  }
}

TEST(Isa, AnUnknownNameListsTheSupportedOnesAndTheNearest) {
  const std::string message = refusal("scaler");
  EXPECT_TRUE(contains(message, "ASSAY_ISA=scaler")) << message;
  EXPECT_TRUE(contains(message, "did you mean scalar?")) << message;
  EXPECT_TRUE(contains(message, supported_isa_names())) << message;
  for (const char* wrong : {"AVX2", "avx", "neon", "avx2 ", "scalar,avx2", "0"}) EXPECT_NE(refusal(wrong), "") << wrong;
}

TEST(Isa, AModelIsNotForcedEither) {
  int models = 0;
  for (const IsaRow& row : kIsas) {
    if (!row.is_model() || !isa_supported(row.isa)) continue;
    ++models;
    const std::string message = refusal(std::string(row.name).c_str());
    EXPECT_TRUE(contains(message, "a model in software")) << message;
    EXPECT_TRUE(contains(message, "the nearest that may be chosen is " + std::string(isa_name(row.includes)) + ".")) << message;
    EXPECT_FALSE(contains(supported_isa_names(), std::string(row.name)));
    for (const OpTable& table : op_tables()) {
      for (const IsaLimit limit : {IsaLimit(), IsaLimit(row.isa)})
        EXPECT_NE(select_kernel(table, limit).isa, row.isa) << table.op;
    }
  }
  if (models == 0) GTEST_SKIP() << "this CPU has not what a model includes";
}

TEST(Isa, AnUnsupportedNameSaysSo) {
  int unsupported = 0;
  for (const IsaRow& row : kIsas) {
    if (isa_supported(row.isa) || row.is_model()) continue;
    ++unsupported;
    const std::string message = refusal(std::string(row.name).c_str());
    EXPECT_TRUE(contains(message, "cannot run it")) << message;
    EXPECT_TRUE(contains(message, supported_isa_names())) << message;
  }
  if (unsupported == 0) GTEST_SKIP() << "this CPU supports every ISA that there is";
}

TEST(FloatEnvironment, TheDefaultIsAccepted) {
  EXPECT_NO_THROW(assert_float_environment());
}

TEST(FloatEnvironment, AnotherRoundingIsRefused) {
  for (const int mode : {FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    EXPECT_THROW(assert_float_environment(), std::runtime_error);
    ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  }
  EXPECT_NO_THROW(assert_float_environment());
}

#if defined(__x86_64__)
TEST(FloatEnvironment, FlushedDenormalsAreRefused) {
  const unsigned before = _mm_getcsr();
  for (const unsigned flag : {0x8000u, 0x0040u}) {  // FTZ, DAZ
    _mm_setcsr(before | flag);
    EXPECT_THROW(assert_float_environment(), std::runtime_error);
    _mm_setcsr(before);
  }
  EXPECT_NO_THROW(assert_float_environment());
}
#endif

}  // namespace
}  // namespace assay::isa_test
