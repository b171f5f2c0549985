// assay-runner: runs kernels, ours and those of plugins, on behalf of a host that talks to it over standard input and output
// (docs/runner.md). What a kernel does to this process it does to this process alone.
#include <fcntl.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "harness/interop/plugin/code_place.h"
#include "harness/interop/plugin/loader.h"
#include "harness/interop/runner/foreign.h"
#include "harness/interop/runner/messages.h"
#include "harness/interop/runner/placed_call.h"
#include "harness/interop/runner/timed_calls.h"
#include "harness/verdict/discipline/faults.h"
#include "kernels/op_tables.h"

namespace assay {
namespace {

constexpr std::size_t kPiece = 1 << 20;  // memory grows with what has arrived, not with what was announced

class Server {
 public:
  Server(int in, int out, Foreign& foreign) : in_(in), out_(out), foreign_(foreign) {}

  int serve() {
    send(wire::Kind::greeting, 0, encode(greeting()));
    for (;;) {
      std::byte head[wire::kHeaderBytes];
      if (!receive(head)) return 0;  // the host has gone
      const wire::Header header = wire::decode_header(head);
      std::vector<std::byte> payload;
      while (payload.size() < header.bytes) {
        const std::size_t from = payload.size();
        payload.resize(std::min<std::size_t>(header.bytes, from + kPiece));
        if (!receive(std::span(payload).subspan(from))) throw wire::WireError("ended within a request");
      }
      answer(header, payload);
      if (done_for_) return 0;
    }
  }

 private:
  void answer(const wire::Header& header, const std::vector<std::byte>& payload) {
    try {
      switch (header.kind) {
        case wire::Kind::load:
          return load(header.sequence, payload);
        case wire::Kind::call:
          return call(header.sequence, payload);
        case wire::Kind::prepare:
          return prepare(header.sequence, payload);
        case wire::Kind::fill:
          return fill(header.sequence, payload);
        case wire::Kind::time:
          return time(header.sequence, payload);
        default:
          throw wire::WireError("sent what only a runner sends");
      }
    } catch (const std::exception& error) {
      send(wire::Kind::refused, header.sequence, error.what());
    }
  }

  void load(std::uint64_t sequence, const std::vector<std::byte>& payload) {
    wire::Reader in(payload);
    const std::string path = in.text("path");
    const Traits more = Traits::parse(in.text("declared").c_str());
    in.finish();
    LoadedPlugin plugin;
    foreign_.run([&] { plugin = load_plugin(path); });
    wire::Loaded loaded{plugin.name, plugin.version, {}};
    for (const AssayPluginKernel& one : plugin.kernels) {
      const std::size_t args_bytes = find_op_table(one.op)->args_bytes;
      loaded.kernels.push_back({one.op, one.name, one.isa, isa_supported(LoadedPlugin::isa_of(one)), args_bytes,
                                static_cast<std::uint32_t>(one.claim), one.packed_tensor == nullptr ? "" : one.packed_tensor,
                                one.properties == nullptr ? "" : one.properties,
                                code_place(reinterpret_cast<const void*>(one.run)).offset});
      kernels_.push_back({args_bytes, one.run, one.packed_bytes, one.pack, LoadedPlugin::traits_of(one).with(more).allowed()});
    }
    send(wire::Kind::loaded, sequence, encode(loaded));
  }

  void call(std::uint64_t sequence, const std::vector<std::byte>& payload) {
    const wire::CallRequest request = wire::decode_call(payload);
    if (request.kernel >= kernels_.size()) throw wire::WireError("asks for kernel " + std::to_string(request.kernel));
    limit(request.limit_ms);
    const CallReply reply = run_call(kernels_[request.kernel], request, foreign_);
    limit(0);
    reply.fault ? end_with(sequence, *reply.fault) : send(wire::Kind::done, sequence, reply.done);
  }

  void prepare(std::uint64_t sequence, const std::vector<std::byte>& payload) {
    wire::TimedRequest request = wire::decode_timed(payload);
    if (request.kernel >= kernels_.size()) throw wire::WireError("asks for kernel " + std::to_string(request.kernel));
    const RunnableKernel& kernel = kernels_[request.kernel];
    timed_.emplace(kernel, std::move(request));
    send(wire::Kind::ready, sequence, "");
  }

  TimedCalls& timed() {
    if (!timed_) throw wire::WireError("has prepared no call to be timed");
    return *timed_;
  }

  void fill(std::uint64_t sequence, const std::vector<std::byte>& payload) {
    const wire::FillRequest request = wire::decode_fill(payload);
    limit(timed().limit_ms() + timed().filling_ms(request));
    std::optional<wire::Fault> fault;
    foreign_.run([&] { fault = timed().fill(request); });
    limit(0);
    fault ? end_with(sequence, *fault) : send(wire::Kind::ready, sequence, "");
  }

  void time(std::uint64_t sequence, const std::vector<std::byte>& payload) {
    limit(timed().limit_ms());
    TimedCalls::End end;
    foreign_.run([&] { end = timed().run(wire::decode_time(payload)); });
    limit(0);
    if (end.fault) return end_with(sequence, *end.fault);
    wire::Writer status;
    status.number(static_cast<std::int32_t>(end.status));
    send(wire::Kind::timed, sequence, status.bytes());
  }

  void end_with(std::uint64_t sequence, const wire::Fault& fault) {
    send(wire::Kind::fault, sequence, encode(fault));
    done_for_ = true;  // what a faulty kernel has done to this process, nobody knows
  }

  // SIGALRM ends a runner whose host cannot, such as one behind ssh. The host is to be the first to say so, and on a busy machine it gives the time
  // that this process is kept waiting. 0: no limit.
  static void limit(std::uint64_t of_host) {
    const std::uint64_t milliseconds = of_host * 6;
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(milliseconds / 1000);
    timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000 * 1000);
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  wire::Greeting greeting() {
    wire::Greeting greeting;
    greeting.abi = ASSAY_PLUGIN_ABI;
    greeting.page_bytes = guard_page_bytes();
    utsname machine{};
    uname(&machine);
    greeting.machine = machine.machine;
    greeting.isas = supported_isa_names();
    greeting.unbound = foreign_.unbound();
    greeting.keeper = static_cast<std::uint32_t>(gettid());
    for (const OpTable& table : op_tables()) {
      for (const AnyKernel& one : table.kernels) {
        greeting.kernels.push_back({table.op, one.name, std::string(isa_name(one.isa)), isa_supported(one.isa), table.args_bytes,
                                    ASSAY_CLAIM_CANONICAL, "", "", 0});
        kernels_.push_back({.args_bytes = table.args_bytes, .run = one.run});
      }
    }
    return greeting;
  }

  // False at the end of input before the first byte; throws within.
  bool receive(std::span<std::byte> bytes) const {
    std::size_t got = 0;
    while (got < bytes.size()) {
      const ssize_t now = read(in_, bytes.data() + got, bytes.size() - got);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0 && got == 0) return false;
      if (now <= 0) throw wire::WireError("ended within a frame");
      got += static_cast<std::size_t>(now);
    }
    return true;
  }

  void send(wire::Kind kind, std::uint64_t sequence, const std::string& payload) const {
    write_all(wire::encode({kind, sequence, payload.size()}));
    write_all(payload);
  }

  void write_all(const std::string& bytes) const {
    std::size_t put = 0;
    while (put < bytes.size()) {
      const ssize_t now = write(out_, bytes.data() + put, bytes.size() - put);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) throw wire::WireError("takes no answer");
      put += static_cast<std::size_t>(now);
    }
  }

  int in_;
  int out_;
  Foreign& foreign_;
  std::vector<RunnableKernel> kernels_;
  std::optional<TimedCalls> timed_;
  bool done_for_ = false;
};

// The protocol's channels, out of a plugin's way: what it prints goes to standard error, and it reads nothing.
int take_channel(int standard, int replacement) {
  const int own = fcntl(standard, F_DUPFD_CLOEXEC, 10);
  if (own < 0 || dup2(replacement, standard) < 0) throw std::runtime_error("standard input and output are not open");
  return own;
}

int serve_standard_channels() {
  assert_float_environment();
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int in = take_channel(STDIN_FILENO, nothing);
  const int out = take_channel(STDOUT_FILENO, STDERR_FILENO);
  // A kernel that prints is not to be told from others by the buffer that the C library would take for it.
  static char buffer[BUFSIZ];
  std::setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
  install_fault_handlers();
  Foreign foreign;
  return foreign.serve(in, out, std::getenv(kNotAsked) == nullptr, [&] { return Server(in, out, foreign).serve(); });
}

}  // namespace
}  // namespace assay

int main(int argc, char**) {
  if (argc != 1) {
    std::fputs("assay-runner takes no arguments: `assay check --runner` starts it and talks to it (docs/runner.md)\n", stderr);
    return 2;
  }
  try {
    return assay::serve_standard_channels();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-runner: the host %s\n", error.what());
    return 2;
  }
}
