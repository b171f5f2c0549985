// Holds mutated kernels of one op to the bench's checks, many a second: cases are read and references computed once, and each mutant
// runs in a process of its own, forked from there.
//
//   mutant_judge OP CHECKS < lines     each line: NAME LIBRARY SYMBOL VARIANT
//   mutant_judge --isas                the ISAs whose kernels this CPU runs
//
// For each line one JSON object: name, variant, ended ("" or how the process died), failures [{case, check, message}], and over all
// cases the largest nmse and whether all were close (harness/verdict/tolerances.h). The mutant of a scalar kernel is not held to the spread,
// which would be its own. First all cases as they come, or with `first` among CHECKS up to one that rejects; only a mutant that passes them so
// is placed at every alignment and cut, and refuses and reaches far; and only one that passes that too is raced by threads and called
// many times, in a process of its own.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "harness/verdict/cases.h"
#include "harness/verdict/check.h"
#include "harness/verdict/coverage.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/refusals.h"
#include "harness/verdict/suite.h"
#include "harness/verdict/vast.h"
#include "kernels/isa.h"

namespace assay {
namespace {

// Of the processor's time for one mutant, however busy the machine: a hang is a failure of the guard. And as long as the references took.
constexpr rlim_t kSeconds = 20;

constexpr std::uint64_t kRandomCases = 3;  // as many as the check draws by itself

using RunFn = AssayStatus (*)(const void* args) noexcept;

RunFn load(const std::string& library, const std::string& symbol) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  void* function = dlsym(handle, symbol.c_str());
  if (function == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<RunFn>(function);
}

// An op's cases, and which of them are for threads and for many calls.
struct Cases {
  std::vector<CaseCheck> all;
  std::size_t threads = 0;
  std::size_t smallest = 0;
};

// The cheap ones first: most mutants fail one of them.
std::vector<TestCase> cases_of(const Op& op) {
  std::vector<TestCase> tests;
  for (const auto& path : golden_files(own_golden())) {
    const GoldenFile file(path);
    if (file.op() != op.name) continue;
    for (const std::string& name : file.case_names()) tests.push_back(case_from_golden(op, file, name));
  }
  for (auto test : {bias_test_case(op), long_bias_test_case(op)}) {
    if (test) tests.push_back(std::move(*test));
  }
  for (Params& params : covering_params(op)) tests.push_back(shape_test_case(op, std::move(params)));
  for (const GeneratedRequest& one : kept_cases(own_golden() / "kept.json", op)) tests.push_back(generated_test_case(op, one));
  for (std::uint64_t seed = 1; seed <= kRandomCases; ++seed) tests.push_back(random_test_case(op, seed, kRandomWork));
  for (auto* made : {refused_value_cases, value_cases}) std::ranges::move(made(op), std::back_inserter(tests));
  const auto work = [&](const TestCase& test) { return work_of(op, test.params); };
  std::ranges::stable_sort(tests, {}, work);
  return tests;
}

Cases prepared_cases(const Op& op) {
  Cases cases;
  int worth = 0;
  std::size_t least = SIZE_MAX;
  for (TestCase& test : cases_of(op)) {
    const int one = thread_worth(op, test);
    if (one > worth) {
      worth = one;
      cases.threads = cases.all.size();
    }
    cases.all.emplace_back(op, std::move(test), nullptr);
  }
  const Variant scalar = variants_of(op).back();
  for (std::size_t i = 0; i < cases.all.size(); ++i) {
    CaseCheck& one = cases.all[i];
    const CaseResult result = one.check(scalar, Checks::parse("classes,bound,exact"));  // computes what is kept
    if (result.failure) throw std::runtime_error(result.op + " " + result.case_name + ": " + result.failure->message);
    if (!one.worth_many_calls() || one.bytes() >= least) continue;
    least = one.bytes();
    cases.smallest = i;
  }
  return cases;
}

struct Mutant {
  std::string name;
  std::string library;
  std::string symbol;
  std::string variant;
};

nlohmann::json failure_json(const CaseResult& result) {
  return {{"case", result.case_name}, {"check", check_name(result.failure->check)}, {"message", result.failure->message}};
}

// What the state of a kernel does, and threads: in a process that has not called it yet.
nlohmann::json judge_state(Cases& cases, const Mutant& mutant) {
  InProcess executor(load(mutant.library, mutant.symbol));
  const Candidate candidate{.name = mutant.variant, .selection = "", .executor = &executor};
  const Checks checks = Checks::parse("classes,bound,exact,guard");
  CaseResult result = cases.all[cases.threads].check(candidate, checks, true);
  CaseCheck& smallest = cases.all[cases.smallest];
  if (!result.failure) smallest.apply(smallest.check_many_calls(candidate, checks), result);
  nlohmann::json failures = nlohmann::json::array();
  if (result.failure) {
    failures.push_back(failure_json(result));
  }
  return {{"failures", failures}};
}

nlohmann::json judge(const Op& op, std::vector<CaseCheck>& cases, RefusalCheck& refusals, const Mutant& mutant,
                     const std::string& wanted) {
  const RunFn run_mutant = load(mutant.library, mutant.symbol);
  InProcess executor(run_mutant);
  const Candidate candidate{.name = mutant.variant, .selection = "", .executor = &executor};
  nlohmann::json failures = nlohmann::json::array();
  double nmse = 0;
  bool all_close = true;
  std::string values;
  for (const std::string_view check : {"classes", "bound", "bias", "spread", "exact", "bits"}) {
    const bool asked = wanted.find(check) != std::string::npos;
    const bool own = check == "spread" && mutant.variant.ends_with("_scalar");
    if (asked && !own) values += (values.empty() ? "" : ",") + std::string(check);
  }
  const auto take = [&](const CaseResult& result, const std::string& checks) {
    nmse = std::max(nmse, std::isnan(result.nmse) ? 0 : result.nmse);
    all_close = all_close && result.all_close;
    if (!result.failure) return false;
    // Whoever tests at all sees a crash, and a refusal of what should be taken. Placements that only the guard tries count as they are.
    const bool refused = !result.refusal && result.failure->message.starts_with("returned ");
    if ((refused || result.crashed) && checks == values) nmse = INFINITY;
    failures.push_back(failure_json(result));
    return result.failure->check != Check::spread;
  };
  const auto run = [&](CaseCheck& one, const std::string& checks) {
    return take(one.check(candidate, Checks::parse(checks)), checks);
  };
  bool failed = false;
  const bool first_is_enough = wanted.find("first") != std::string::npos;
  for (CaseCheck& one : cases) {
    failed = run(one, values) || failed;
    if (failed && first_is_enough) break;
  }
  constexpr const char* kPlaced = "classes,bound,exact,guard";
  if (wanted.find("guard") != std::string::npos) {
    for (std::size_t i = 0; i < cases.size() && !failed; ++i) failed = run(cases[i], kPlaced);
    if (!failed) failed = take(refusals.check(candidate, Checks::parse("exact,guard")), kPlaced);
    RepeatedInputs inputs(1);
    for (const Params& params : vast_params(op, kRandomWork)) {  // made here: their memory is a file, which no fork keeps apart
      if (failed) break;
      failed =
          take(VastCheck(op, params, inputs).check({mutant.variant, Isa::scalar, run_mutant}, Checks::parse(kPlaced)), kPlaced);
    }
  }
  return {{"failures", failures},
          {"nmse", std::isfinite(nmse) ? nlohmann::json(nmse) : nlohmann::json("inf")},
          {"all_close", all_close && std::isfinite(nmse)}};
}

// In a child: what it does to memory, or to the process, ends with it.
template <class Judge>
nlohmann::json apart(rlim_t seconds, const Judge& judge_it) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    close(ends[0]);
    const rlimit limit{seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
    std::string text;
    try {
      text = judge_it().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    } catch (const std::exception& error) {
      text = nlohmann::json{{"error", error.what()}}.dump();
    }
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t n = write(ends[1], text.data() + written, text.size() - written);
      if (n <= 0) _exit(3);
      written += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  nlohmann::json result = nlohmann::json::parse(text, nullptr, false);
  if (result.is_discarded()) result = {{"failures", nlohmann::json::array()}, {"nmse", 0}, {"all_close", true}};
  result["ended"] = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : "";
  return result;
}

int run(const std::string& op_name, const std::string& wanted) {
  assert_float_environment();
  const Op& op = require_op(op_name);
  Cases cases = prepared_cases(op);
  RefusalCheck refusals(op);
  const rlim_t seconds = kSeconds + static_cast<rlim_t>(std::clock() / CLOCKS_PER_SEC);
  for (std::string line; std::getline(std::cin, line);) {
    Mutant mutant;
    std::istringstream(line) >> mutant.name >> mutant.library >> mutant.symbol >> mutant.variant;
    nlohmann::json result = apart(seconds, [&] { return judge(op, cases.all, refusals, mutant, wanted); });
    if (result["failures"].empty() && result["ended"] == "" && wanted.find("guard") != std::string::npos) {
      const nlohmann::json state = apart(seconds, [&] { return judge_state(cases, mutant); });
      result["failures"] = state["failures"];
      result["ended"] = state["ended"];
    }
    result["name"] = mutant.name;
    result["variant"] = mutant.variant;
    result["cases"] = cases.all.size();
    std::cout << result.dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--isas") {
    for (const assay::IsaRow& row : assay::kIsas) {
      if (assay::isa_runs(assay::cpu_features(), row.isa)) std::cout << row.name << "\n";
    }
    return 0;
  }
  if (argc != 3) {
    std::cerr << "usage: mutant_judge OP CHECKS < NAME-LIBRARY-SYMBOL-VARIANT-lines\n";
    return 2;
  }
  try {
    return assay::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << "mutant_judge: " << argv[1] << ": " << error.what() << "\n";
    return 2;
  }
}
