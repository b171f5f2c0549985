// A case ready to be checked, whether read from a golden file or made from a seed.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/store.h"
#include "reference/ops/op.h"

namespace assay {

inline constexpr const char* kRefusals = "refusals";  // the name that calls have which kernels must refuse

struct TestCase {
  std::string name;
  std::string source;  // the golden file, or empty: made from a seed
  std::vector<std::string> tags;
  AssayStatus status = ASSAY_OK;  // what the kernel must return
  Params params;
  std::vector<Array> inputs;          // in the order of the signature
  std::map<std::string, Kept> truth;  // by output
  std::map<std::string, Kept> canonical;
  std::map<std::string, Array> parts;  // what the golden keeps for the reference
  std::optional<std::uint64_t> seed;   // if it was made from one
  std::string data;                    // of a random case: the distribution
  bool drawn = false;                  // by us, not asked for: few placements, and of a long call a sample of truth
  bool judge_bias = false;             // the op's own seeded case: |z| counts
  std::string repro;                   // options of `assay check OP` that run just this

  bool has_tag(std::string_view tag) const;
};

// Throws std::invalid_argument where an input or a truth is missing or of the wrong shape, naming both.
TestCase case_from_golden(const Op& op, const GoldenFile& file, const std::string& name);

// The op's own seeded case for the bias; empty if the op has none. With another seed it is one that was drawn, "bias 77": an answer learnt
// by heart passes the op's own.
std::optional<TestCase> bias_test_case(const Op& op, std::optional<std::uint64_t> seed = std::nullopt);
// Another whose rows are long. Empty: the op has no rows.
std::optional<TestCase> long_bias_test_case(const Op& op);
inline bool is_bias(std::string_view case_name) {
  return case_name.starts_with("bias");
}

// FNV-1a.
std::uint32_t seed_of(std::string_view name);

// One of the op's calls across everything that steers its kernels (harness/verdict/coverage.h): named by its parameters.
TestCase shape_test_case(const Op& op, Params params);

// Sizes, choices and the inputs' distribution follow from the seed; it costs at most `work` (harness/verdict/draw.h).
TestCase random_test_case(const Op& op, std::uint64_t seed, double work);

// Calls of every choice that the op has in which an input ends in, or holds alone, a number that some op must refuse: NaN, an infinity, no
// index, past f16. Whether this op must, the description says. None of an op that refuses none of them.
std::vector<TestCase> refused_value_cases(const Op& op);

// Calls in which a few elements of an input are what arithmetic makes an exception of: infinities, or NaN, or zeros of either sign, denormals and
// the largest numbers; of blocks, such scales. Everything else is drawn, and tame.
std::vector<TestCase> value_cases(const Op& op);

// Calls whose data have a pattern that no draw has: rows that begin alike, or with zeros and ones; runs of -inf; two inputs that are the same; the
// same maximum far apart; rows of two tensors that can take turns; keys whose scores are -inf or NaN, and spans of them without weight. They are among value_cases.
std::vector<TestCase> pattern_cases(const Op& op);

// Small calls of many lengths whose inputs have each coincidence that there is for their type (harness/verdict/coincidences.h). Likewise.
std::vector<TestCase> coincidence_cases(const Op& op);

// What the user asks for with --shape, --data, --seed.
struct GeneratedRequest {
  Params shape;  // sizes given; empty: each case draws its own
  std::string data = "gauss";
  std::uint64_t seed = 1;
};

// The op's cases in a list of those that failed once (ci/long writes it); none where there is no such file. Throws std::runtime_error.
std::vector<GeneratedRequest> kept_cases(const std::filesystem::path& list, const Op& op);

// `given` with the op's defaults for what it leaves out. Throws std::invalid_argument for a name that the op does not know.
Params complete_params(const Op& op, const Params& given);

// Throws as complete_params.
TestCase generated_test_case(const Op& op, const GeneratedRequest& request);

}  // namespace assay
