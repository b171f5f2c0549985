#include "harness/verdict/discipline/crowd.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "harness/verdict/discipline/poison.h"

namespace assay {
namespace {

constexpr long kFirst = 1000;     // ns: the earliest of the first stops
constexpr unsigned kOctaves = 8;  // up to the latest of them
constexpr long kLongest = 250'000'000;
constexpr int kNaps = 10;
constexpr timespec kNap{0, 10'000};

}  // namespace

// A caller and its timer.
class Crowd::Timed {
 public:
  Timed(Crowd& crowd, std::uint64_t draw) : crowd_(crowd) {
    const long octave = kFirst << (draw % kOctaves);
    next_ = octave + static_cast<long>((draw >> 32) % static_cast<std::uint64_t>(octave));
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = stop_signal();
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    // A process may have no more timers: then this one is not stopped.
    if (timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0) own = this;
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    if (own == this) timer_delete(timer_);
    own = nullptr;
    ++crowd_.ended_;
  }

  static int stop_signal() { return SIGRTMIN + 1; }
  // Only what a handler of signals may call.
  static void on_timer(int) {
    if (own == nullptr || !own->stops_) return;
    const int error = errno;
    own->crowd_.wait_for_another();
    own->start();
    errno = error;
  }
  void start() {
    stops_ = true;
    const itimerspec at{{0, 0}, {0, next_}};
    timer_settime(timer_, 0, &at, nullptr);
    if (next_ < kLongest) next_ *= 2;
  }
  // A timer that is still to run ends with the caller or with its next call: to set it costs more than many a call.
  void stop() { stops_ = false; }

  static thread_local Timed* own;

 private:
  Crowd& crowd_;
  timer_t timer_{};
  long next_ = 0;  // ns to the next stop
  std::atomic<bool> stops_{false};
};

thread_local Crowd::Timed* Crowd::Timed::own = nullptr;

Crowd::Stops::Stops() {
  if (Timed::own != nullptr) Timed::own->start();
}
Crowd::Stops::~Stops() {
  if (Timed::own != nullptr) Timed::own->stop();
}

Crowd::Crowd(std::size_t callers) : callers_(static_cast<int>(callers)) {
  static std::atomic<std::uint64_t> crowds{0};
  seed_ = ++crowds << 8;
  static const bool installed = (install_handler(), true);
  static_cast<void>(installed);
}

void Crowd::run(std::size_t caller, const std::function<void()>& body) {
  std::uint64_t seed = seed_ + caller;
  const Timed timed(*this, split_mix(seed));
  body();
}

// The last one that could go on does not wait for those who wait.
void Crowd::wait_for_another() {
  const int ended = ended_;
  const int stopped = ++stopped_;
  for (int nap = 0; nap < kNaps && ended + stopped < callers_ && ended_ == ended; ++nap) nanosleep(&kNap, nullptr);
  --stopped_;
}

void Crowd::install_handler() {
  struct sigaction action {};
  action.sa_handler = Timed::on_timer;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(Timed::stop_signal(), &action, nullptr);
}

}  // namespace assay
