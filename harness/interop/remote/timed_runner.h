// A kernel timed in a runner, from outside: this process has the clock, starts and stops the runner, and reads what came out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/interop/remote/remote_runner.h"

namespace assay {

// What a batch of calls took.
struct TimedReading {
  double cpu = 0;   // seconds of processor time that its process has had since the batch before, but what filling memory takes
  double wall = 0;  // seconds
  int threads = 1;  // that it had when it was done, or that its processor time takes
};

// What befell a kernel while it was timed, in words: "raised SIGSEGV".
class TimedFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Its process stands still but while it is asked for something, so that it can do nothing ahead, late, or to others who are timed.
class TimedRunner {
 public:
  // Starts a runner of its own and lays the call out there; `request`'s kernel and limit are set here. Throws RunnerError where it cannot be
  // used, TimedFailure as all below.
  // `huge`: outputs on huge pages, which cost much where the machine has to make them: for readings that count.
  TimedRunner(RunnerOptions options, std::string_view op, const std::string& variant, wire::TimedRequest request,
              bool huge = false);
  TimedRunner(const TimedRunner&) = delete;
  TimedRunner& operator=(const TimedRunner&) = delete;
  ~TimedRunner();

  void fill(const wire::FillRequest& request);
  TimedReading run(const wire::TimeRequest& request);

  // Of the batch's call `call`: what it wrote to `tensor`.
  std::span<const std::byte> output(std::uint64_t call, std::size_t tensor) const;
  // Of what was written in a lap of the batch, where it had several; of what was written last, by calls of slots with these seeds.
  std::uint64_t digest_of_lap(std::uint64_t lap) const { return laps_[lap]; }
  std::uint64_t digest_of_last(std::span<const std::uint64_t> seeds) const;
  AssayStatus status() const { return status_; }
  const wire::TimedRequest& request() const { return request_; }

 private:
  class Memory;
  // Seconds of processor time: of all threads, of the first and of the keeper; those are 0 where the system does not tell.
  struct Clocks {
    double all = 0;
    double first = 0;
    double keeper = 0;
    double others() const { return first > 0 ? all - first - keeper : 0; }
  };
  Clocks clocks() const;
  void stand();
  void stand_untimed();
  void go_on();
  void await_done();
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
  Clocks stood_;     // when it was made to stand
  double owed_ = 0;  // seconds of processor time that count with the next batch
  std::vector<std::byte> outputs_;
  std::vector<std::uint64_t> laps_;
  AssayStatus status_ = ASSAY_OK;
};

}  // namespace assay
