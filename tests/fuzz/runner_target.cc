// The host's end of the protocol as a whole: a runner that says what the input says, whatever it is asked.
#include <unistd.h>
#include <memory>

#include "harness/interop/remote/remote_runner.h"
#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/targets.h"

namespace assay::fuzz {
namespace {

constexpr std::chrono::milliseconds kLimit{2000};

RunnerOptions says(const MemoryFile& file) {
  const std::string own = "/proc/" + std::to_string(getpid()) + "/fd/" + file.path().filename().string();
  return {"exec cat " + own, {}, kLimit};
}

// The same call each time: add of 33 numbers.
Call small_call(std::size_t page) {
  const Op& add = *find_op("add");
  TestCase test = generated_test_case(add, {.shape = {{"n", std::int64_t{33}}}, .data = "gauss", .seed = 1});
  return {add, std::move(test.params), std::move(test.inputs), std::max(page, guard_page_bytes())};
}

void call_it(RemoteRunner& runner) {
  for (const RemoteKernel& kernel : runner.kernels()) {
    if (kernel.op != "add") continue;
    Call call = small_call(runner.page_bytes());
    RemoteExecutor executor(runner, kernel, std::make_shared<TraitRecord>());
    const Outcome outcome = call.run(executor, call.placements().front());
    require(outcome.crashed ? !outcome.violation.empty() : outcome.outputs.size() == 1, "a call that ended in no way");
    return;
  }
}

}  // namespace

void run_runner(Input input) {
  const MemoryFile file(input);
  try {
    RemoteRunner runner(says(file));
    call_it(runner);
  } catch (const RunnerError& error) {
    require(std::string_view(error.what()).size() > 10, "a refusal without a reason");
  }
}

}  // namespace assay::fuzz
