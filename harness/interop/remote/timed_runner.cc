#include "harness/interop/remote/timed_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

#include "harness/interop/remote/trouble.h"
#include "harness/interop/runner/huge_pages.h"
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
  Memory(std::uint64_t bytes, bool huge)
      : bytes_(huge_pages(bytes)), file_(memfd_create("assay-timed", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    const bool sized = file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes_)) == 0 &&
                       fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
    memory_ = sized ? map_huge(bytes_, file_) : nullptr;
    if (memory_ == nullptr) throw RunnerError(fmt::format("no {} bytes of memory to share with a runner", bytes_));
    if (huge) gather_huge(memory_, bytes_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    munmap(memory_, bytes_);
    close(file_);
  }
  int file() const { return file_; }
  const std::byte* data() const { return memory_; }
  TimedControl& control() const { return *reinterpret_cast<TimedControl*>(memory_); }

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

TimedRunner::TimedRunner(RunnerOptions options, std::string_view op, const std::string& variant, wire::TimedRequest request,
                         bool huge)
    : request_(std::move(request)), offsets_(timed_offsets(request_.tensors, Keep::shared)) {
  memory_ = std::make_unique<Memory>(kControlBytes + request_.slots * offsets_.back(), huge);
  options.shared = memory_->file();
  options.isolation.allow_fork = false;  // a new process would have a clock of its own
  runner_ = std::make_unique<RemoteRunner>(std::move(options));
  const auto kernel =
      std::ranges::find_if(runner_->kernels(), [&](const RemoteKernel& one) { return one.op == op && one.variant == variant; });
  if (kernel == runner_->kernels().end()) throw RunnerError("the runner has no kernel " + variant);
  request_.kernel = kernel->number;
  request_.limit_ms = static_cast<std::uint64_t>(runner_->options().limit.count());
  guarded([&] { expect_ready(runner_->ask(wire::Kind::prepare, encode(request_), kMostAnswer)); });
  if (clock_getcpuclockid(runner_->child_->pid(), &clock_) != 0) throw RunnerError("the runner's processor time cannot be read");
  stand();
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
  const std::chrono::milliseconds filling(filling_ms(request_.tensors, request.seeds.size()));
  go_on();
  guarded([&] { expect_ready(runner_->ask(wire::Kind::fill, encode(request), kMostAnswer, filling)); });
  stand_untimed();
}

// Until the runner says so; one that has ended, or has something else to say, is not waited for.
void TimedRunner::await_done() {
  const Deadline deadline = std::chrono::steady_clock::now() + runner_->options().limit;
  const auto kept_waiting = runner_->child_->kept_waiting();
  std::atomic<std::uint32_t>& word = memory_->control().turn;
  for (std::uint32_t now = word.load(); now != TimedControl::done; now = word.load()) {
    constexpr timespec kSlice{0, 20'000'000};
    syscall(SYS_futex, &word, FUTEX_WAIT, now, &kSlice, nullptr, 0);
    if (word.load() == TimedControl::done) return;
    if (runner_->child_->stirs()) fail(guarded([&] { return runner_->receive(runner_->sequence_, kMostAnswer, deadline); }));
    if (std::chrono::steady_clock::now() > deadline + runner_->child_->kept_waiting() - kept_waiting) {
      throw TimedFailure(
          fmt::format("gave no answer within {} (--time-limit): an endless loop?", seconds(runner_->options().limit)));
    }
  }
}

TimedRunner::Clocks TimedRunner::clocks() const {
  const pid_t pid = runner_->child_->pid();
  return {seconds_of(clock_), thread_seconds(pid, static_cast<std::uint32_t>(pid)),
          runner_->keeper_ == 0 ? 0 : thread_seconds(pid, runner_->keeper_)};
}

// The time of a thread that runs is not up to date.
void TimedRunner::stand() {
  if (!runner_->child_->stop())
    fail(guarded([&] { return runner_->receive(runner_->sequence_, kMostAnswer, std::chrono::steady_clock::now()); }));
  stood_ = clocks();
}

// What threads of the kernel's own have done meanwhile is work ahead.
void TimedRunner::stand_untimed() {
  const double before = stood_.others();
  stand();
  const double others = stood_.others() - before;
  if (others > kIdle) owed_ += others;
}

void TimedRunner::go_on() {
  owed_ += seconds_of(clock_) - stood_.all;  // nothing, unless somebody let it go on before
  runner_->child_->go_on();
}

// The reading begins where the runner stood: the word that it shares with the host is no witness, since a kernel can write to it.
TimedReading TimedRunner::run(const wire::TimeRequest& request) {
  const Deadline deadline = std::chrono::steady_clock::now() + 2 * runner_->options().limit;
  memory_->control().turn = TimedControl::nobody;
  const double before = stood_.all;
  const double wall = wall_seconds();
  go_on();
  guarded([&] { runner_->send(wire::Kind::time, encode(request), deadline); });
  await_done();
  TimedReading reading{.wall = wall_seconds() - wall};
  stand();
  reading.cpu = stood_.all - before + std::exchange(owed_, 0);
  reading.threads = std::max(threads_of(runner_->child_->pid(), runner_->keeper_ != 0),
                             static_cast<int>(std::lround(reading.cpu / reading.wall)));
  if (!request.dry) copy_outputs(request.first, request.count);
  memory_->control().turn = TimedControl::nobody;
  go_on();
  syscall(SYS_futex, &memory_->control().turn, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  const RemoteRunner::Answer answer = guarded([&] { return runner_->receive(runner_->sequence_, kMostAnswer, deadline); });
  if (answer.kind != wire::Kind::timed || answer.payload.size() != sizeof(std::int32_t)) fail(answer);
  stand_untimed();
  std::int32_t status = 0;
  std::memcpy(&status, answer.payload.data(), sizeof status);
  if (status < 0 || status >= ASSAY_STATUS_COUNT) throw TimedFailure(fmt::format("returned {}, which is no AssayStatus", status));
  status_ = static_cast<AssayStatus>(status);
  return reading;
}

void TimedRunner::copy_outputs(std::uint64_t first, std::uint64_t count) {
  laps_.assign(std::begin(memory_->control().laps), std::end(memory_->control().laps));
  outputs_.resize(count * offsets_.back());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* slot = memory_->data() + kControlBytes + (first + i) % request_.slots * offsets_.back();
    std::copy_n(slot, offsets_.back(), outputs_.data() + i * offsets_.back());
  }
}

std::uint64_t TimedRunner::digest_of_last(std::span<const std::uint64_t> seeds) const {
  std::uint64_t sum = 0;
  for (std::uint64_t call = 0; call < seeds.size(); ++call)
    sum += digest_of_call(request_.tensors, seeds[call], [&](std::size_t tensor) { return output(call, tensor); });
  return sum;
}

std::span<const std::byte> TimedRunner::output(std::uint64_t call, std::size_t tensor) const {
  return std::span(outputs_).subspan(call * offsets_.back() + offsets_[tensor], request_.tensors[tensor].bytes);
}

}  // namespace assay
