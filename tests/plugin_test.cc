// Foreign kernels on the bench: each bad one is named as what it is, good ones pass, and plugins that cannot be used are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "harness/interop/plugin/loader.h"
#include "harness/interop/plugin/properties.h"
#include "harness/verdict/discipline/sanitized.h"
#include "harness/verdict/refusals.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::plugin_test {
namespace {

constexpr std::int64_t kCases = 2;

std::filesystem::path plugin(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / (name + ".so");
}

// Short only for kernels that never answer: on a busy machine any other may need its time.
std::chrono::milliseconds limit_for(const std::string& kernel) {
  const bool answers = kernel != "endless" && kernel != "sleeps" && !kernel.empty();  // no name: all of them
  return answers ? std::chrono::minutes(1) : std::chrono::milliseconds(500);
}

CheckRequest request(const std::string& name, const std::string& variant = "") {
  CheckRequest request;
  request.ops = {"rms_norm"};
  request.generated = GeneratedRequest{{{"rows", std::int64_t{3}}, {"n", std::int64_t{40}}}, "gauss", 1};
  request.generated_cases = kCases;
  request.variant = variant.empty() ? "" : "bad:" + variant;
  request.runner = RunnerOptions{"", {plugin(name).string()}, limit_for(variant)};
  return request;
}

// Every case of the kernel fails by `check` with these words, and the run comes to its end.
void expect_failed(const std::string& kernel, const std::string& check, const std::string& words) {
  const SuiteResult result = run_suite(request("bad_plugin", kernel));
  ASSERT_EQ(result.cases.size(), static_cast<std::size_t>(kCases)) << kernel << ": the run stopped";
  for (const CaseResult& one : result.cases) {
    ASSERT_EQ(one.verdict, Verdict::fail) << kernel;
    EXPECT_EQ(check_name(one.failure->check), check) << kernel << ": " << one.failure->message;
    EXPECT_NE(one.failure->message.find(words), std::string::npos) << kernel << ": " << one.failure->message;
    EXPECT_NE(one.repro.find("--plugin "), std::string::npos) << one.repro;
    EXPECT_NE(one.repro.find("--variant bad:" + kernel), std::string::npos) << one.repro;
  }
  EXPECT_FALSE(result.passed());
}

void expect_passed(const CheckRequest& asked) {
  const SuiteResult result = run_suite(asked);
  EXPECT_TRUE(result.passed()) << asked.variant;
  for (const CaseResult& one : result.cases) {
    EXPECT_EQ(one.verdict, Verdict::pass) << one.variant << ": " << (one.failure ? one.failure->message : "");
    EXPECT_GE(one.placements, 2) << one.variant;
  }
}

// All of them, on a CPU that has all.
TEST(Plugin, OfAnIsaThatTheCpuLacksIsSkippedAndTold) {
  CheckRequest asked = request("isas_plugin");
  asked.ops = {"add"};
  asked.generated->shape = {{"n", std::int64_t{40}}};
  std::set<std::string> lacked;
  for (const AssayPluginKernel& one : load_plugin(plugin("isas_plugin").string()).kernels) {
    if (!isa_supported(LoadedPlugin::isa_of(one))) lacked.insert("add isas:" + std::string(one.name));
  }
  const SuiteResult result = run_suite(asked);
  EXPECT_TRUE(result.passed());
  std::set<std::string> skipped;
  for (const auto& one : result.skips) {
    if (one.what.starts_with("add isas:")) skipped.insert(one.what);
  }
  EXPECT_EQ(skipped, lacked);
}

TEST(Plugin, GoodKernelsPass) {
  for (const char* kernel : {"good", "packed", "prints"}) {
    expect_passed(request("bad_plugin", kernel));
    EXPECT_EQ(run_suite(request("bad_plugin", kernel)).cases[0].stability, "stable") << kernel;
  }
}

// Every golden case and the bias: what a plugin's owner runs.
TEST(Plugin, AGoodKernelPassesEveryGolden) {
  CheckRequest asked = request("bad_plugin", "good");
  asked.generated.reset();
  expect_passed(asked);
}

TEST(Plugin, ACanonicalKernelIsHeldToOurBitsAndOurLedger) {
  CheckRequest asked = request("bad_plugin", "canonical");
  asked.ops = {"add"};
  asked.generated.reset();
  expect_passed(asked);
  const SuiteResult result = run_suite(asked);
  EXPECT_TRUE(result.cases[0].in_ledger);
  EXPECT_TRUE(result.cases[0].stability.empty());
  expect_failed("not_canonical", "bits", "not the scalar kernel's bits: y[");
}

TEST(Plugin, MemoryFaultsNameTheTensorAndTheDistance) {
  expect_failed("segfault", "guard", "touched address ");
  expect_failed("write_past", "guard", "touched 1 bytes past the end of y (guard page)");
  expect_failed("write_before", "guard", "4 bytes before the start of y");
  expect_failed("read_past", "guard", "touched 1 bytes past the end of x (guard page)");
  if (ASSAY_SANITIZED == 0) expect_failed("overruns_stack", "guard", "needs more than 524288 bytes of stack");
}

TEST(Plugin, OtherWaysNotToReturn) {
  expect_failed("throws", "guard", "threw std::runtime_error: no such tile");
  expect_failed("throws_int", "guard", "threw int");
  expect_failed("throws_in_noexcept", "guard", "aborted (SIGABRT)");
  expect_failed("illegal", "guard", "executed an instruction that this CPU lacks (SIGILL)");
  expect_failed("aborts", "guard", "aborted (SIGABRT)");
  expect_failed("divides", "guard", "raised SIGFPE");
  expect_failed("endless", "guard", "gave no answer within 0.5 s (--time-limit): an endless loop?");
  expect_failed("sleeps", "guard", "gave no answer within 0.5 s");
  expect_failed("exits", "guard", "the runner exited with status 0");
}

TEST(Plugin, WrongResults) {
  expect_failed("many_ulp", "bound", "y[0, 3] = 0x");
  expect_failed("refuses", "exact", "returned bad_parameter; expected ok");
  expect_failed("odd_status", "guard", "returned 77, which is no AssayStatus");
  expect_failed("flushes", "guard", "left another floating-point environment behind: this thread flushes denormals");
}

// What it claims or not: the calls that its op must refuse are asked of it too.
TEST(Plugin, SizesThatNoCallMayHave) {
  CheckRequest asked = request("bad_plugin", "takes_all_sizes");
  asked.generated.reset();
  asked.case_name = kRefusals;
  const SuiteResult result = run_suite(asked);
  ASSERT_EQ(result.cases.size(), 1U);
  ASSERT_EQ(result.cases[0].verdict, Verdict::fail);
  EXPECT_EQ(result.cases[0].failure->message, "rows = -1: returned ok; expected bad_shape before anything is touched");
  asked.variant = "bad:read_past";
  EXPECT_EQ(run_suite(asked).cases.at(0).failure->message, "rows = -1: touched x; expected bad_shape before anything is touched");
  for (const char* kernel : {"bad:good", "bad:packed", "bad:many_ulp"}) {
    asked.variant = kernel;
    expect_passed(asked);
  }
}

TEST(Plugin, BitsThatChangeAreToldApart) {
  expect_failed("random", "bits", "not deterministic: other bits when called again: y[0, 0]");
  expect_failed("alignment", "bits", "depends on its placement: other bits when placed");
  expect_failed("batch", "bits", "not batch invariant: other bits when placed cut by rows in 2 parts: y[0, 0]");
  expect_failed("threads", "bits", "not the same when threads run it: other bits when placed cut by rows among 2 threads");
  EXPECT_EQ(run_suite(request("bad_plugin", "batch")).cases[0].stability, "not batch invariant");
}

TEST(Plugin, LayoutsOfItsOwn) {
  expect_failed("pack_past", "guard", "pack: wrote past the end of its own layout");
  expect_failed("pack_before", "guard", "pack: wrote before the start of its own layout");
  expect_failed("pack_odd_status", "guard", "pack: returned 77, which is no AssayStatus");
  expect_failed("pack_negative", "guard", "packed_bytes: asks for -1 bytes");
  expect_failed("pack_throws", "guard", "pack: threw std::bad_alloc");
  expect_failed("packed_read_past", "guard", "past the end of its own layout of w (guard page)");
}

// Six cases, three waits.
TEST(Plugin, AKernelThatHangsIsNotCalledForever) {
  CheckRequest asked = request("bad_plugin", "sleeps");
  asked.generated_cases = 6;
  asked.runner->limit = std::chrono::milliseconds(100);
  const SuiteResult result = run_suite(asked);
  ASSERT_EQ(result.cases.size(), 6U);
  const auto failed_by = [&result](const std::string& words) {
    return std::ranges::count_if(
        result.cases, [&words](const CaseResult& one) { return one.failure->message.find(words) != std::string::npos; });
  };
  EXPECT_EQ(failed_by("gave no answer within 0.1 s (--time-limit): an endless loop?"), 3);
  EXPECT_EQ(failed_by("was not called: 3 calls before gave no answer within 0.1 s"), 3);
}

// One run with all of them: each fails or passes by itself.
TEST(Plugin, TheRunIsComplete) {
  CheckRequest asked = request("bad_plugin");
  asked.generated_cases = 1;
  std::map<std::string, Verdict> verdicts;
  for (const CaseResult& one : run_suite(asked).cases) verdicts[one.variant] = one.verdict;
  EXPECT_EQ(verdicts.size(), 33U);
  std::size_t passed = 0;
  for (const auto& [variant, verdict] : verdicts) passed += verdict == Verdict::pass ? 1 : 0;
  EXPECT_EQ(passed, 4U);
}

TEST(Plugin, AFaultFailsWhateverIsOff) {
  CheckRequest asked = request("bad_plugin", "throws");
  asked.checks = Checks::parse("spread");
  EXPECT_EQ(run_suite(asked).cases[0].verdict, Verdict::fail);
}

TEST(Plugin, OnesThatCannotBeUsedAreRefusedByName) {
  const std::map<std::string, std::string> faults{
      {"WRONG_ABI", "is of plugin ABI 99; expected 2: build it against this program's harness/plugin/assay_plugin.h"},
      {"ABI_1",
       "is of plugin ABI 1; expected 2: since then kernels take one argument struct a family, such as ProductArgs of "
       "kernels/products/products.h instead of GemvQ4KQ8KArgs"},
      {"WRONG_SIZE", "size is 8; expected 40"},
      {"WRONG_KERNEL_SIZE", "kernel 0: size is 56; expected 72, or that of another revision of ABI 2, at least 64"},
      {"ODD_SIZE", "kernel 0: size is 76; expected 72"},
      {"SIZES_DIFFER", "kernel 1: size is 64; expected that of kernel 0, 72"},
      {"UNKNOWN_FIELD", "kernel 'two' states a field (byte 80 of its 88) that is unknown here"},
      {"UNKNOWN_PLUGIN_FIELD", "its description states a field (byte 40 of its 48) that is unknown here"},
      {"MALFORMED_PROPERTY", "kernel 'one': properties: 'order=rows' is not key=value;"},
      {"ODD_PROPERTY", "kernel 'one': properties: allocates is 'no'; expected yes, or that the key is left out"},
      {"CANONICAL_BY_CUT",
       "kernel 'one': properties: batch-invariant is 'no', but its claim is canonical; expected claim 1 (bounded)"},
      {"UNKNOWN_PROPERTY", "kernel 'one': properties: unknown key 'ordre'; the nearest is 'order'"},
      {"USELESS_PROPERTY", "kernel 'one': properties: add has no use for 'order' here; it has one for: "},
      {"CANONICAL_BY_WORD", "kernel 'one': properties: 'order' is no trait, and its claim, canonical, says what it computes"},
      {"UNKNOWN_OP", "kernel 'one': unknown op 'ad'; the nearest is 'add'"},
      {"UNKNOWN_ISA", "kernel 'one': unknown ISA 'avx3'; the nearest is 'avx2'"},
      {"DUPLICATE_NAME", "kernel 'one' of add is there twice"},
      {"NULL_RUN", "kernel 'one': run is null"},
      {"HALF_LAYOUT", "kernel 'one': its layout is half stated"},
      {"UNKNOWN_TENSOR", "kernel 'small:one' packs w of add; expected none: the op has no weights"},
      {"INPUT_TENSOR", "kernel 'small:one' packs a of add; expected none: the op has no weights"},
      {"ACTIVATIONS_TENSOR", "kernel 'small:one' packs x of gemm_f16; expected w, its weights"},
      {"OUTPUT_TENSOR", "kernel 'small:one' packs y of add"},
      {"BAD_NAME", "kernel 0: name is 'a b'; expected 1 to 64 of"},
      {"BAD_VERSION", R"(version is '1.0\nPASS\n\x1b[2J'; expected at most 256 printable characters)"},
      {"BAD_CLAIM", "kernel 'one': claim is 7"},
      {"NO_KERNELS", "kernel_count is 0; expected 1 to"},
      {"NULL_PLUGIN", "assay_plugin() gave null"},
      {"NO_SYMBOL", "has no symbol assay_plugin"},
      {"CRASH_AT_LOAD", "while it was loaded the runner died of SIGABRT"},
      {"EXIT_AT_LOAD", "while it was loaded the runner exited with status 3"},
  };
  for (const auto& [fault, words] : faults) {
    try {
      CheckRequest asked = request("unloadable_" + fault);
      asked.ops = {"add"};
      asked.generated->shape = {};
      run_suite(asked);
      ADD_FAILURE() << fault << ": was loaded";
    } catch (const RunnerError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(words), std::string::npos) << fault << ": " << message;
      EXPECT_NE(message.find("plugin " + plugin("unloadable_" + fault).string()), std::string::npos) << message;
    }
  }
}

// One without the fields that came last, and one with fields that came later and say nothing.
TEST(Plugin, OtherRevisionsOfTheAbiAreTaken) {
  for (const char* revision : {"unloadable_OLDER_REVISION", "unloadable_NEWER_REVISION"}) {
    CheckRequest asked = request(revision);
    asked.ops = {"add"};
    asked.generated->shape = {};
    expect_passed(asked);
    EXPECT_EQ(load_plugin(plugin(revision).string()).kernels[1].name, std::string("two")) << revision;
  }
}

TEST(Plugin, PropertiesAreKeysAndValues) {
  using Properties = std::map<std::string, std::string>;
  EXPECT_EQ(parse_properties(nullptr), Properties{});
  EXPECT_EQ(parse_properties(""), Properties{});
  EXPECT_EQ(parse_properties("order=by rows;lanes=8;"), (Properties{{"lanes", "8"}, {"order", "by rows"}}));
  const auto refusal = [&](const char* text) { return message_of<std::invalid_argument>([&] { parse_properties(text); }); };
  EXPECT_EQ(refusal("order=rows;order=rows;"), "key 'order' is there twice");
  for (const char* text :
       {"order=rows", "order;", ";", "=rows;", "order=;", "Order=rows;", "order=a=b;", "order=\n;", "order=rows;lanes=8"}) {
    expect_mentions(refusal(text), {"is not key=value;"});
  }
  expect_mentions(refusal(std::string(5000, 'a').c_str()), {"longer than 4096"});
}

TEST(Plugin, AMissingFileAndANameTwiceAreRefused) {
  CheckRequest asked = request("no_such_plugin");
  EXPECT_THROW(run_suite(asked), RunnerError);
  asked = request("bad_plugin");
  asked.runner->plugins.push_back(asked.runner->plugins[0]);
  expect_mentions(message_of<RunnerError>([&] { run_suite(asked); }), {"its name is 'bad', as that of"});
}

TEST(Plugin, AnUnknownVariantNamesTheNearest) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { run_suite(request("bad_plugin", "godo")); }),
            "unknown variant 'bad:godo'; the nearest is 'bad:good'");
}

TEST(Plugin, AnOwnersLedgerSeesDrift) {
  const TemporaryFolder folder;
  CheckRequest asked = request("bad_plugin", "good");
  asked.own_ledger = folder.path() / "ledger.json";
  const SuiteResult first = run_suite(asked);
  EXPECT_TRUE(first.passed());
  EXPECT_FALSE(first.cases[0].in_ledger);
  Ledger ledger(asked.own_ledger);
  std::map<std::string, std::string> digests;
  std::map<std::string, double> margins;
  for (const CaseResult& one : first.cases) {
    digests[one.case_name] = one.digest;
    margins[one.case_name] = one.margin;
  }
  ledger.accept("rms_norm bad:good", digests, margins, "a person", "2026-01-01", "first");
  ledger.save();
  EXPECT_TRUE(run_suite(asked).passed());
  EXPECT_TRUE(run_suite(asked).cases[0].in_ledger);
  digests.begin()->second = "00";
  ledger.accept("rms_norm bad:good", digests, margins, "a person", "2026-01-01", "to be found wanting");
  ledger.save();
  const SuiteResult drifted = run_suite(asked);
  EXPECT_FALSE(drifted.passed());
  EXPECT_EQ(check_name(drifted.cases[0].failure->check), "ledger");
  const std::string accept = "assay ledger accept rms_norm --plugin " + asked.runner->plugins[0] + " --time-limit 60 --ledger " +
                             asked.own_ledger.string() + " --why";
  EXPECT_NE(drifted.cases[0].failure->message.find(accept), std::string::npos) << drifted.cases[0].failure->message;
}

// The same loader in this process, as `assay bench` uses it.
TEST(PluginLoader, GivesWhatThePluginHolds) {
  const LoadedPlugin loaded = load_plugin(plugin("bad_plugin").string());
  EXPECT_EQ(loaded.name, "bad");
  EXPECT_EQ(loaded.version, "1.0");
  EXPECT_EQ(loaded.kernels.size(), 34U);
  EXPECT_THROW(load_plugin(plugin("unloadable_WRONG_ABI").string()), PluginError);
}

}  // namespace
}  // namespace assay::plugin_test
