#include "harness/interop/remote/timed_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

#include "harness/interop/remote/trouble.h"
#include "harness/verdict/clock.h"
#include "reference/ops/op.h"

namespace assay {
namespace {

constexpr std::uint64_t kMostAnswer = 1 << 22;
constexpr double kIdle = 5e-5;  // seconds of other threads that are only their sleeping and waking

// Of one of its threads, exact while that stands still; 0 where the system does not tell.
double thread_seconds(pid_t pid, std::uint32_t thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/schedstat", pid, thread));
  double nanoseconds = 0;
  file >> nanoseconds;
  return 1e-9 * nanoseconds;
}

// Those that run what is foreign.
int threads_of(pid_t pid, bool keeper) {
  std::error_code error;
  const std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", pid), error);
  return error ? 1 : static_cast<int>(std::distance(tasks, {})) - (keeper ? 1 : 0);
}

}  // namespace

// Shared with the runner; its size is sealed, so that nobody takes it away while it is read.
class TimedRunner::Memory {
 public:
  explicit Memory(std::uint64_t bytes) : bytes_(bytes), file_(memfd_create("assay-timed", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    const bool sized = file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes)) == 0 &&
                       fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
    void* const memory = sized ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) throw RunnerError(fmt::format("no {} bytes of memory to share with a runner", bytes));
    memory_ = static_cast<std::byte*>(memory);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    munmap(memory_, bytes_);
    close(file_);
  }
  int file() const { return file_; }
  const std::byte* data() const { return memory_; }
  std::atomic<std::uint32_t>& turn() const { return reinterpret_cast<TimedControl*>(memory_)->turn; }

 private:
  std::uint64_t bytes_;
  int file_;
  std::byte* memory_ = nullptr;
};

// What the runner did instead of answering, as what befell the kernel.
template <class Body>
auto TimedRunner::guarded(const Body& body) {
  try {
    return body();
  } catch (const RunnerError&) {
    throw;
  } catch (const TimedFailure&) {
    throw;
  } catch (const std::runtime_error& trouble) {
    throw TimedFailure(std::string("the runner ") + trouble.what());
  }
}

TimedRunner::TimedRunner(RunnerOptions options, std::string_view op, std::string_view variant, wire::TimedRequest request)
    : request_(std::move(request)), offsets_(timed_offsets(request_.tensors, Keep::shared)) {
  memory_ = std::make_unique<Memory>(kControlBytes + request_.slots * offsets_.back());
  options.shared = memory_->file();
  options.isolation.allow_fork = false;  // a new process would have a clock of its own
  runner_ = std::make_unique<RemoteRunner>(std::move(options));
  const auto kernel =
      std::ranges::find_if(runner_->kernels(), [&](const RemoteKernel& one) { return one.op == op && one.variant == variant; });
  if (kernel == runner_->kernels().end()) throw RunnerError(fmt::format("the runner has no kernel {} of {}", variant, op));
  request_.kernel = kernel->number;
  request_.limit_ms = static_cast<std::uint64_t>(runner_->options().limit.count());
  guarded([&] { expect_ready(runner_->ask(wire::Kind::prepare, encode(request_), kMostAnswer)); });
  if (clock_getcpuclockid(runner_->child_->pid(), &clock_) != 0) throw RunnerError("the runner's processor time cannot be read");
}

TimedRunner::~TimedRunner() = default;

void TimedRunner::fail(const RemoteRunner::Answer& answer) {
  if (answer.kind == wire::Kind::refused) throw TimedFailure("the host " + text_of(answer.payload));
  if (answer.kind != wire::Kind::fault) throw TimedFailure("the runner answered something else than was asked");
  const wire::Fault fault = wire::decode_fault(answer.payload, 0);
  const char* phase = fault.phase == wire::Phase::run ? "" : "pack: ";
  if (!fault.text.empty()) throw TimedFailure(phase + fault.text);
  throw TimedFailure(fmt::format("{}raised {} at address {:#x}", phase, signal_name(fault.signal), fault.address));
}

void TimedRunner::expect_ready(const RemoteRunner::Answer& answer) {
  if (answer.kind != wire::Kind::ready) fail(answer);
}

void TimedRunner::fill(const wire::FillRequest& request) {
  guarded([&] { expect_ready(runner_->ask(wire::Kind::fill, encode(request), kMostAnswer)); });
}

// Until the runner says so; one that has ended, or has something else to say, is not waited for.
void TimedRunner::await_turn(std::uint32_t turn) {
  const Deadline deadline = std::chrono::steady_clock::now() + runner_->options().limit;
  std::atomic<std::uint32_t>& word = memory_->turn();
  for (std::uint32_t now = word.load(); now != turn; now = word.load()) {
    constexpr timespec kSlice{0, 20'000'000};
    syscall(SYS_futex, &word, FUTEX_WAIT, now, &kSlice, nullptr, 0);
    if (word.load() == turn) return;
    if (runner_->child_->stirs()) fail(guarded([&] { return runner_->receive(runner_->sequence_, kMostAnswer, deadline); }));
    if (std::chrono::steady_clock::now() > deadline) {
      throw TimedFailure(fmt::format("gave no answer within {} s (--time-limit): an endless loop?",
                                     static_cast<double>(runner_->options().limit.count()) / 1000));
    }
  }
}

// The runner is made to stand still for it: the time of a thread that runs is not up to date.
TimedRunner::Clocks TimedRunner::stopped_clocks() {
  const ChildProcess& child = *runner_->child_;
  if (!child.stop())
    fail(guarded([&] { return runner_->receive(runner_->sequence_, kMostAnswer, std::chrono::steady_clock::now()); }));
  const double keeper = runner_->keeper_ == 0 ? 0 : thread_seconds(child.pid(), runner_->keeper_);
  const Clocks now{seconds_of(clock_), thread_seconds(child.pid(), static_cast<std::uint32_t>(child.pid())), keeper};
  stands_ = true;
  return now;
}

void TimedRunner::say(std::uint32_t turn) {
  std::atomic<std::uint32_t>& word = memory_->turn();
  word = turn;
  if (std::exchange(stands_, false)) runner_->child_->go_on();
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

TimedReading TimedRunner::run(const wire::TimeRequest& request) {
  memory_->turn() = TimedControl::nobody;
  const Deadline deadline = std::chrono::steady_clock::now() + 2 * runner_->options().limit;
  guarded([&] { runner_->send(wire::Kind::time, encode(request), deadline); });
  await_turn(TimedControl::ready);
  const Clocks before = stopped_clocks();
  const double wall = wall_seconds();
  say(TimedControl::go);
  await_turn(TimedControl::done);
  TimedReading reading{.wall = wall_seconds() - wall};
  const Clocks after = stopped_clocks();
  if (request.dry && after.first > 0) {
    reading.cpu =
        after.first - before.first;  // what others do meanwhile is no part of a crossing; it counts with the calls to come
  } else {
    reading.cpu = after.all - before.all;
    // What other threads did while nothing was timed was work for what was, or for what comes.
    if (before.others() - others_ > kIdle) reading.cpu += before.others() - others_;
    others_ = after.others();
  }
  reading.threads = std::max(threads_of(runner_->child_->pid(), runner_->keeper_ != 0),
                             static_cast<int>(std::lround(reading.cpu / reading.wall)));
  if (!request.dry) copy_outputs(request.first, request.count);
  say(TimedControl::nobody);
  const RemoteRunner::Answer answer = guarded([&] { return runner_->receive(runner_->sequence_, kMostAnswer, deadline); });
  if (answer.kind != wire::Kind::timed || answer.payload.size() != sizeof(std::int32_t)) fail(answer);
  std::int32_t status = 0;
  std::memcpy(&status, answer.payload.data(), sizeof status);
  if (status < 0 || status >= ASSAY_STATUS_COUNT) throw TimedFailure(fmt::format("returned {}, which is no AssayStatus", status));
  status_ = static_cast<AssayStatus>(status);
  return reading;
}

void TimedRunner::copy_outputs(std::uint64_t first, std::uint64_t count) {
  outputs_.resize(count * offsets_.back());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* slot = memory_->data() + kControlBytes + (first + i) % request_.slots * offsets_.back();
    std::copy_n(slot, offsets_.back(), outputs_.data() + i * offsets_.back());
  }
}

std::span<const std::byte> TimedRunner::output(std::uint64_t call, std::size_t tensor) const {
  return std::span(outputs_).subspan(call * offsets_.back() + offsets_[tensor], request_.tensors[tensor].bytes);
}

}  // namespace assay
