// ASSAY_ISA and the float environment.
#include "kernels/isa.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/add/add.h"
#include "kernels/kernel.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay {
namespace {

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
  for (const Isa isa : kAllIsas) EXPECT_EQ(isa_from_name(isa_name(isa)), isa);
  EXPECT_EQ(isa_from_name("AVX2"), std::nullopt);
  EXPECT_EQ(isa_from_name(""), std::nullopt);
}

TEST(Isa, ScalarIsAlwaysSupportedAndEachIncludesTheOnesBefore) {
  EXPECT_TRUE(isa_supported(Isa::scalar));
  EXPECT_TRUE(isa_supported(best_isa()));
  for (const Isa isa : kAllIsas) EXPECT_EQ(isa_supported(isa), isa <= best_isa()) << isa_name(isa);
}

TEST(Isa, UnsetOrEmptyMeansTheBest) {
  for (const char* value : {static_cast<const char*>(nullptr), ""}) {
    const ForcedIsa forced(value);
    EXPECT_EQ(selected_isa(), best_isa());
  }
}

TEST(Isa, AForcedOneIsReadAnewAtEachCall) {
  for (const Isa isa : kAllIsas) {
    if (!isa_supported(isa)) continue;
    const ForcedIsa forced(std::string(isa_name(isa)).c_str());
    EXPECT_EQ(selected_isa(), isa);
    EXPECT_LE(select_kernel<Add>().isa, isa);
  }
}

TEST(Isa, AnUnknownNameListsTheSupportedOnesAndTheNearest) {
  const std::string message = refusal("scaler");
  EXPECT_TRUE(contains(message, "ASSAY_ISA=scaler")) << message;
  EXPECT_TRUE(contains(message, "did you mean scalar?")) << message;
  EXPECT_TRUE(contains(message, supported_isa_names())) << message;
  for (const char* wrong : {"AVX2", "avx", "neon", "avx2 ", "scalar,avx2", "0"}) EXPECT_NE(refusal(wrong), "") << wrong;
}

TEST(Isa, AnUnsupportedNameSaysSo) {
  if (isa_supported(Isa::avx512vnni)) GTEST_SKIP() << "this CPU supports every ISA that there is";
  const std::string message = refusal("avx512vnni");
  EXPECT_TRUE(contains(message, "cannot run it")) << message;
  EXPECT_TRUE(contains(message, supported_isa_names())) << message;
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
}  // namespace assay
