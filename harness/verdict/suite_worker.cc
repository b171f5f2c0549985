#include "harness/verdict/suite_worker.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "harness/verdict/clock.h"

namespace assay {
namespace {

bool receive_all(int socket, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

class Worker {
 public:
  Worker(const SuitePlan& plan, std::span<const Unit> units, int socket, Outbox& outbox)
      : plan_(plan), units_(units), socket_(socket), outbox_(outbox) {}

  void serve() {
    try {
      std::vector<Skip> told_by_the_other;
      Trials trials(plan_.request, told_by_the_other);
      for (std::uint32_t number = 0; receive_all(socket_, &number, sizeof number);) run(units_[number], trials);
    } catch (const std::bad_alloc&) {
      say({.what = SuiteMessage::What::error, .error = "out of memory"});
    } catch (const std::exception& error) {
      say({.what = SuiteMessage::What::error, .error = error.what()});
    }
  }

 private:
  void run(const Unit& unit, Trials& trials) {
    const UnitWatch watch{[this](std::int64_t more) { say({.what = SuiteMessage::What::planned, .planned = more}); },
                          [this](const CaseResult& one) { say({.what = SuiteMessage::What::done, .one = one}); },
                          [] { return false; }};
    UnitResult result = run_unit(plan_, unit, trials, watch);
    result.traits = trials.take_records(*unit.op);
    say({.what = SuiteMessage::What::unit, .unit = std::move(result)});
  }

  // Cases that pass can wait.
  void say(SuiteMessage message) {
    using What = SuiteMessage::What;
    const bool waits = message.what == What::planned || (message.what == What::done && message.one.verdict == Verdict::pass);
    const std::string bytes = to_bytes(message);
    const std::uint64_t size = bytes.size();
    const std::string_view head(reinterpret_cast<const char*>(&size), sizeof size);
    if (outbox_.filled + head.size() + bytes.size() > Outbox::kBytes) send_outbox();
    if (head.size() + bytes.size() > Outbox::kBytes) {
      send_now(head);
      return send_now(bytes);
    }
    outbox_.append(std::string(head) + bytes);
    if (!waits || wall_seconds() - sent_ > kLongestWait) send_outbox();
  }
  void send_outbox() {
    send_now(outbox_.text());
    outbox_.filled = 0;
    sent_ = wall_seconds();
  }
  void send_now(std::string_view bytes) const {
    if (!send_all(socket_, bytes.data(), bytes.size())) _exit(1);
  }

  const SuitePlan& plan_;
  static constexpr double kLongestWait = 0.05;  // seconds

  std::span<const Unit> units_;
  int socket_;
  Outbox& outbox_;
  double sent_ = 0;
};

}  // namespace

bool send_all(int socket, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

void serve_units(const SuitePlan& plan, std::span<const Unit> units, int socket, Outbox& outbox) {
  Worker(plan, units, socket, outbox).serve();
}

}  // namespace assay
