// A kernel timed in a runner, from outside: this process has the clock, starts and stops the runner, and reads what came out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/interop/remote/remote_runner.h"

namespace assay {

// What a batch of calls took.
struct TimedReading {
  double cpu =
      0;  // seconds of processor time, of all threads of the runner; those beside its first count from the batch before on
  double wall = 0;  // seconds
  int threads = 1;  // that it had when it was done, or that its processor time takes
};

// What befell a kernel while it was timed, in words: "raised SIGSEGV".
class TimedFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class TimedRunner {
 public:
  // Starts a runner of its own and lays the call out there; `request`'s kernel and limit are set here. Throws RunnerError where it cannot be
  // used, TimedFailure as all below.
  TimedRunner(RunnerOptions options, std::string_view op, std::string_view variant, wire::TimedRequest request);
  TimedRunner(const TimedRunner&) = delete;
  TimedRunner& operator=(const TimedRunner&) = delete;
  ~TimedRunner();

  void fill(const wire::FillRequest& request);
  // The runner stands still while its outputs are copied.
  TimedReading run(const wire::TimeRequest& request);

  // Of the batch's call `call`: what it wrote to `tensor`.
  std::span<const std::byte> output(std::uint64_t call, std::size_t tensor) const;
  AssayStatus status() const { return status_; }
  const wire::TimedRequest& request() const { return request_; }

 private:
  class Memory;
  // Seconds of processor time: of all threads, and of the first; that is 0 where the system does not tell.
  struct Clocks {
    double all;
    double first;
    double keeper;
    double others() const { return first > 0 ? all - first - keeper : 0; }
  };
  Clocks stopped_clocks();
  void say(std::uint32_t turn);
  void await_turn(std::uint32_t turn);
  void copy_outputs(std::uint64_t first, std::uint64_t count);
  void expect_ready(const RemoteRunner::Answer& answer);
  [[noreturn]] void fail(const RemoteRunner::Answer& answer);
  template <class Body>
  auto guarded(const Body& body);

  wire::TimedRequest request_;
  std::vector<std::uint64_t> offsets_;  // of the shared tensors
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<RemoteRunner> runner_;
  clockid_t clock_ = 0;
  double others_ = 0;  // Clocks::others() after the last batch that was not dry
  bool stands_ = false;
  std::vector<std::byte> outputs_;
  AssayStatus status_ = ASSAY_OK;
};

}  // namespace assay
