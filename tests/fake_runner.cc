// A runner that goes wrong in the way that its argument names: what harness/remote must tell from a failing kernel.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "harness/interop/runner/messages.h"
#include "harness/interop/runner/placed_call.h"
#include "harness/plugin/assay_plugin.h"
#include "kernels/op_tables.h"

namespace assay {
namespace {

using wire::Kind;

void put(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t now = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (now <= 0) _exit(0);
    bytes.remove_prefix(static_cast<std::size_t>(now));
  }
}

bool get(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t now = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (now <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(now));
  }
  return true;
}

void send(Kind kind, std::uint64_t sequence, const std::string& payload) {
  put(wire::encode({kind, sequence, payload.size()}));
  put(payload);
}

[[noreturn]] void hang() {
  for (;;) pause();
}

std::string greeting(std::string_view mode) {
  wire::Greeting greeting;
  greeting.abi = mode == "another_abi" ? 99 : ASSAY_PLUGIN_ABI;
  greeting.protocol = mode == "another_protocol" ? 99 : wire::kProtocol;
  greeting.order = mode == "another_byte_order" ? 0x04030201 : 0x01020304;
  greeting.pointer_bytes = mode == "small_pointers" ? 4 : 8;
  greeting.page_bytes = mode == "odd_pages" ? 5000 : guard_page_bytes();
  greeting.machine = "fake";
  greeting.isas = "scalar";
  const OpTable& add = *find_op_table("add");
  const std::string op = mode == "unknown_op" ? "addd" : "add";
  const std::string isa = mode == "unknown_isa" ? "avx3" : "scalar";
  const std::string name = mode == "another_kernel" ? "add_another" : "add_scalar";
  greeting.kernels.push_back({op, name, isa, true, mode == "other_arguments" ? 8 : add.args_bytes, 0, ""});
  if (mode == "lacks_an_isa") greeting.kernels.push_back({op, "add_avx2", "avx2", false, add.args_bytes, 0, ""});
  std::string bytes = encode(greeting);
  // The count of kernels stands before the first one.
  if (mode == "more_kernels_than_bytes") bytes[bytes.size() - 64] = '\x7f';
  return bytes;
}

// As it would without a sanitizer, which handles the signal and exits.
void die_of(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

// What goes wrong before any call.
void greet(std::string_view mode) {
  if (mode == "exits_at_once") _exit(3);
  if (mode == "dies_at_once") die_of(SIGSEGV);
  if (mode == "silent") hang();
  if (mode == "prints_a_banner") put("Welcome to the board. Last login: yesterday\n");
  const std::string payload = greeting(mode);
  std::string frame = wire::encode({mode == "another_kind_first" ? Kind::done : Kind::greeting, 0, payload.size()}) + payload;
  if (mode == "huge_frame") frame = wire::encode({Kind::greeting, 0, std::uint64_t{1} << 60});
  if (mode == "large_frame") frame = wire::encode({Kind::greeting, 0, std::uint64_t{1} << 30});
  if (mode == "half_a_head") frame.resize(10);
  if (mode == "half_a_greeting") frame.resize(frame.size() / 2);
  if (mode == "unknown_kind") frame[4] = 77;
  put(frame);
  if (mode == "half_a_head" || mode == "half_a_greeting") _exit(0);
}

// How it answers a call; false: rightly.
bool go_wrong(std::string_view mode, std::uint64_t sequence, const wire::CallRequest& request, std::string done) {
  static int calls = 0;
  ++calls;
  if (mode == "exits_in_a_call") _exit(9);
  if (mode == "is_killed_in_a_call") raise(SIGKILL);
  if (mode == "hangs_in_a_call") hang();
  if (mode == "dies_in_every_third_call" && calls % 3 == 0) die_of(SIGBUS);
  if (mode == "hangs_in_every_third_call" && calls % 3 == 0) hang();
  if (mode == "prints_in_a_call") put("result: 0x3f800000, all is well\n");
  if (mode == "floods") {
    for (;;) put(std::string(1 << 16, '?'));
  }
  if (mode == "closes_its_output") {
    close(STDOUT_FILENO);
    hang();
  }
  const std::string frame = wire::encode({Kind::done, sequence, done.size()}) + done;
  if (mode == "ends_within_an_answer" || mode == "stalls_within_an_answer") {
    put(frame.substr(0, frame.size() / 2));
    if (mode == "ends_within_an_answer") _exit(0);
    hang();
  }
  wire::Fault fault;
  fault.where = wire::Where::memory;
  fault.index = static_cast<std::uint32_t>(request.memories.size());
  fault.signal = mode == "fault_that_says_nothing" ? 0 : SIGSEGV;
  if (mode == "another_sequence") return send(Kind::done, sequence + 5, done), true;
  if (mode == "answers_twice") return put(frame), send(Kind::done, sequence, done), true;
  if (mode == "greets_in_a_call") return send(Kind::greeting, sequence, greeting("")), true;
  if (mode == "refuses_calls") return send(Kind::refused, sequence, "is not welcome"), true;
  if (mode == "odd_status") return done[sizeof(wire::Done::odd_call)] = 99, send(Kind::done, sequence, done), true;
  if (mode == "refuses_a_first_part" && request.parts.size() > 1)
    return done[sizeof(wire::Done::odd_call)] = ASSAY_BAD_SHAPE, send(Kind::done, sequence, done), true;
  if (mode == "short_answer") return send(Kind::done, sequence, done.substr(0, done.size() - 9)), true;
  if (mode == "long_answer") return send(Kind::done, sequence, done + "more"), true;
  if (mode == "gigabyte_answer") return put(wire::encode({Kind::done, sequence, std::uint64_t{1} << 30})), true;
  if (mode == "fault_nowhere") return send(Kind::fault, sequence, encode(fault)), true;
  if (mode == "fault_that_says_nothing") return fault.index = 0, send(Kind::fault, sequence, encode(fault)), true;
  return false;
}

int serve(std::string_view mode) {
  greet(mode);
  const AnyKernel& add = find_op_table("add")->kernels.back();
  const RunnableKernel kernel{find_op_table("add")->args_bytes, add.run, {}, {}};
  Foreign foreign;
  std::byte head[wire::kHeaderBytes];
  while (get(head)) {
    const wire::Header header = wire::decode_header(head);
    std::vector<std::byte> payload(header.bytes);
    if (!get(payload)) return 1;
    const wire::CallRequest request = wire::decode_call(payload);
    const std::string done = run_call(kernel, request, foreign).done;
    if (!go_wrong(mode, header.sequence, request, done)) send(Kind::done, header.sequence, done);
  }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  return argc == 2 ? assay::serve(argv[1]) : 2;
}
