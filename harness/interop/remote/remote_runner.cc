#include "harness/interop/remote/remote_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/plugin/assay_plugin.h"
#include "harness/verdict/call.h"
#include "harness/verdict/call_image.h"
#include "harness/verdict/declaration.h"

namespace assay {
namespace {

constexpr std::uint64_t kMostText = 1 << 22;  // greetings, faults, refusals
constexpr int kMostFailedStarts = 3;
constexpr int kMostLate = 3;

// What a runner did instead of answering, after "the runner ".
class Trouble : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class Late : public Trouble {
 public:
  using Trouble::Trouble;
};

std::string seconds(std::chrono::milliseconds limit) {
  return fmt::format("{} s", static_cast<double>(limit.count()) / 1000);
}

std::string text_of(const std::vector<std::byte>& payload) {
  return payload.empty() ? "" : std::string(reinterpret_cast<const char*>(payload.data()), payload.size());
}

std::string version_mismatch(const std::string& what) {
  return what + ": the runner is of another version of Assay";
}

}  // namespace

RemoteRunner::RemoteRunner(RunnerOptions options) : options_(std::move(options)) {
  try {
    start();
  } catch (const Trouble& trouble) {
    throw RunnerError(std::string("the runner ") + trouble.what() +
                      (options_.command.empty() ? "" : " (--runner '" + options_.command + "')"));
  }
}

// The same kernels each time: a runner that is started again must be the one that was there.
void RemoteRunner::start() {
  kernels_.clear();
  plugins_.clear();
  if (options_.command.empty()) {
    if (!own_) own_ = std::make_unique<OwnRunner>(options_.plugins, options_.isolation);
    child_ = own_->start(options_.shared, isolation_state_);
  } else {
    child_ = std::make_unique<ChildProcess>(std::vector<std::string>{"/bin/sh", "-c", options_.command}, options_.shared);
    isolation_state_ = {{}, {"seccomp, landlock, no root (started by --runner)"}};
  }
  greet();
  require_isolation();
  for (const std::string& path : options_.plugins) load(path);
  const bool same = std::ranges::equal(offered_, kernels_, [](const RemoteKernel& a, const RemoteKernel& b) {
    return a.op == b.op && a.variant == b.variant && a.isa == b.isa && a.traits == b.traits;
  });
  if (!offered_.empty() && !same) throw Trouble("was started again and offers other kernels than before");
  offered_ = kernels_;
}

void RemoteRunner::require_isolation() {
  if (options_.isolation.wish != IsolationRequest::Wish::required || isolation_state_.missing.empty()) return;
  throw RunnerError("--isolation required: the runner's isolation is " + isolation());
}

void RemoteRunner::greet() {
  const Answer answer = receive(0, kMostText, std::chrono::steady_clock::now() + options_.limit);
  if (answer.kind != wire::Kind::greeting) throw Trouble("began with something else than its greeting");
  const wire::Greeting greeting = [&answer] {
    try {
      return wire::decode_greeting(answer.payload);
    } catch (const wire::WireError& error) {
      throw Trouble(error.what());
    }
  }();
  if (greeting.abi != ASSAY_PLUGIN_ABI) {
    throw Trouble(fmt::format("takes plugins of ABI {}; expected {}", greeting.abi, ASSAY_PLUGIN_ABI));
  }
  machine_ = greeting.machine;
  isas_ = greeting.isas;
  page_bytes_ = greeting.page_bytes;
  keeper_ = greeting.keeper;
  if (greeting.unbound.empty()) {
    isolation_state_.in_force.emplace_back("arena");
  } else if (options_.isolation.wish != IsolationRequest::Wish::none) {
    isolation_state_.missing.push_back("arena (" + greeting.unbound + ")");
  }
  add_kernels(greeting.kernels, nullptr);
}

void RemoteRunner::load(const std::string& path) {
  wire::Writer request;
  request.text(path);
  const Answer answer = [&] {
    try {
      return ask(wire::Kind::load, request.bytes(), kMostText);
    } catch (const Trouble& trouble) {
      throw RunnerError("plugin " + path + ": while it was loaded the runner " + trouble.what());
    }
  }();
  if (answer.kind == wire::Kind::refused) {
    const std::string why = text_of(answer.payload);
    const bool library = why.find("cannot open shared object file") != std::string::npos && std::filesystem::exists(path);
    throw RunnerError(why + (own_ && library ? " (does it lie where a runner may not read? --allow-read FOLDER lets it)" : ""));
  }
  if (answer.kind != wire::Kind::loaded) throw Trouble("was asked to load a plugin and answered something else");
  try {
    const wire::Loaded loaded = wire::decode_loaded(answer.payload);
    for (const RemotePlugin& other : plugins_) {
      if (other.name == loaded.name) {
        throw RunnerError(
            fmt::format("plugin {}: its name is '{}', as that of {}; expected names that differ", path, loaded.name, other.path));
      }
    }
    plugins_.push_back({path, loaded.name, loaded.version});
    add_kernels(loaded.kernels, &plugins_.back());
  } catch (const wire::WireError& error) {
    throw Trouble(error.what());
  }
}

void RemoteRunner::add_kernels(const std::vector<wire::KernelInfo>& infos, const RemotePlugin* plugin) {
  for (const wire::KernelInfo& info : infos) {
    const Op* op = find_op(info.op);
    const auto isa = isa_from_name(info.isa);
    if (op == nullptr)
      throw Trouble(version_mismatch(fmt::format("offers a kernel of the op '{}', which is unknown here", info.op)));
    if (!isa) throw Trouble(version_mismatch(fmt::format("offers a kernel of the ISA '{}', which is unknown here", info.isa)));
    if (info.args_bytes != op->family->args_bytes) {
      throw Trouble(version_mismatch(
          fmt::format("takes {} bytes of arguments for {}; expected {}", info.args_bytes, info.op, op->family->args_bytes)));
    }
    if (info.claim > ASSAY_CLAIM_BOUNDED) throw Trouble(fmt::format("sent the claim {} of {}", info.claim, info.name));
    const Traits traits = traits_of(info);
    try {
      arithmetic_of(*op, traits.words());
    } catch (const std::invalid_argument& error) {
      throw RunnerError(
          fmt::format("plugin {}: kernel '{}': properties: {}", plugin == nullptr ? "" : plugin->path, info.name, error.what()));
    }
    const std::string variant = plugin == nullptr ? info.name : plugin->name + ":" + info.name;
    kernels_.push_back({static_cast<std::uint32_t>(kernels_.size()), info.op, variant, *isa, info.runs,
                        info.claim == ASSAY_CLAIM_CANONICAL, info.packed_tensor, plugin == nullptr ? "" : plugin->path, traits,
                        info.code_offset});
  }
}

Traits RemoteRunner::traits_of(const wire::KernelInfo& info) {
  try {
    return Traits::parse(info.properties.c_str());
  } catch (const std::invalid_argument& error) {
    throw Trouble(fmt::format("sent the properties of {}: {}", info.name, error.what()));
  }
}

// What came of reading or writing, if it was not everything.
void RemoteRunner::expect(Io io, std::size_t got, const char* where) {
  if (io == Io::done) return;
  const std::string after = got > 0 ? fmt::format(" {} bytes into {}", got, where) : "";
  if (io == Io::late)
    throw Late(fmt::format("gave no answer within {}{} (--time-limit): an endless loop?", seconds(options_.limit), after));
  throw Trouble(child_->ending() + after);
}

RemoteRunner::Answer RemoteRunner::receive(std::uint64_t sequence, std::uint64_t most, Deadline deadline) {
  std::byte head[wire::kHeaderBytes];
  std::size_t got = 0;
  const Io io = child_->read(head, deadline, got);
  // Rubbish that is shorter than a frame's head is still rubbish.
  if (got >= sizeof wire::kMagic && std::memcmp(head, wire::kMagic, sizeof wire::kMagic) != 0) {
    std::fill(head + got, head + sizeof head, std::byte{});
  } else {
    expect(io, got, "the head of its answer");
  }
  try {
    const wire::Header header = wire::decode_header(head);
    if (header.sequence != sequence) {
      throw Trouble(fmt::format("answered request {} where {} was asked", header.sequence, sequence));
    }
    if (header.bytes > most)
      throw Trouble(fmt::format("announced an answer of {} bytes; expected at most {}", header.bytes, most));
    Answer answer{header.kind, std::vector<std::byte>(static_cast<std::size_t>(header.bytes))};
    expect(child_->read(answer.payload, deadline, got), got, fmt::format("an answer of {}", header.bytes).c_str());
    return answer;
  } catch (const wire::WireError& error) {
    throw Trouble(error.what());
  }
}

RemoteRunner::Answer RemoteRunner::ask(wire::Kind kind, const std::string& payload, std::uint64_t most) {
  const Deadline deadline = std::chrono::steady_clock::now() + options_.limit;
  send(kind, payload, deadline);
  return receive(sequence_, most, deadline);
}

void RemoteRunner::send(wire::Kind kind, const std::string& payload, Deadline deadline) {
  const std::string head = wire::encode({kind, ++sequence_, payload.size()});
  expect(child_->write(std::as_bytes(std::span(head)), deadline), 0, "");
  expect(child_->write(std::as_bytes(std::span(payload)), deadline), 0, "");
}

Execution RemoteRunner::run(const RemoteKernel& kernel, const Call& call, std::span<const CallPart> parts, const Manner& manner) {
  if (manner.fresh) child_.reset();
  wire::CallRequest request;
  request.kernel = kernel.number;
  request.limit_ms = static_cast<std::uint64_t>(options_.limit.count());
  request.at_once = manner.at_once;
  request.times = static_cast<std::uint64_t>(manner.times);
  std::uint64_t most = kMostText;
  for (std::size_t m = 0; m < call.memory().size(); ++m) {
    const GuardedMemory& memory = call.memory()[m];
    request.memories.push_back(std::as_bytes(std::span(memory.begin(), memory.end())));
    request.read_only.push_back(!call.writable(m));
    most += request.memories.back().size();
  }
  for (const CallPart& part : parts) {
    CallImage image = call_image(call.op(), part, call.memory());
    for (std::size_t p = 0; p < image.tensors.size() && part.instead.empty(); ++p) {
      if (call.spec_of(image.tensors[p]).name == kernel.packed_tensor) request.packed = static_cast<std::uint32_t>(p);
    }
    request.parts.push_back(std::move(image.part));
  }
  Execution result;
  try {
    if (failed_starts_ >= kMostFailedStarts) throw Trouble("cannot be started any more");
    if (!child_) {
      ++failed_starts_;
      start();
      failed_starts_ = 0;
    }
    const Answer answer = ask(wire::Kind::call, encode(request), most);
    result = bring_back(call, answer, parts.size(), kernel.packed_tensor);
  } catch (const RunnerError& error) {
    result.failure = error.what();
  } catch (const Late& late) {
    result.failure = std::string("the runner ") + late.what();
    result.late = true;
  } catch (const std::runtime_error& trouble) {
    result.failure = std::string("the runner ") + trouble.what();
  }
  if (result.fault || !result.failure.empty()) child_.reset();
  return result;
}

Execution RemoteRunner::bring_back(const Call& call, const Answer& answer, std::size_t parts, const std::string& packed_tensor) {
  Execution result;
  const auto memory = call.memory();
  if (answer.kind == wire::Kind::done) {
    std::vector<std::uint64_t> sizes;
    for (const GuardedMemory& one : memory) sizes.push_back(static_cast<std::uint64_t>(one.end() - one.begin()));
    const wire::Done done = wire::decode_done(answer.payload, sizes, parts);
    result.odd_call = static_cast<std::int64_t>(done.odd_call);
    result.took_memory = done.took_memory;
    result.started_threads = done.started_threads;
    for (const std::int32_t status : done.statuses) {
      if (status != ASSAY_OK) result.status = static_cast<AssayStatus>(status);
    }
    for (std::size_t m = 0; m < memory.size(); ++m) {
      const auto& changed = done.memories[m];
      if (changed) std::copy(changed->begin(), changed->end(), reinterpret_cast<std::byte*>(memory[m].begin()));
    }
    return result;
  }
  if (answer.kind != wire::Kind::fault) {
    throw Trouble(answer.kind == wire::Kind::refused ? "refused the call: the host " + text_of(answer.payload)
                                                     : "was sent a call and answered something else");
  }
  const wire::Fault fault = wire::decode_fault(answer.payload, memory.size());
  static constexpr const char* kPhases[] = {"packed_bytes: ", "pack: ", ""};
  const std::string phase = kPhases[static_cast<std::size_t>(fault.phase)];
  const std::int64_t past = fault.offset - static_cast<std::int64_t>(fault.packed_bytes);
  if (!fault.text.empty()) {
    result.failure = phase + fault.text;
  } else if (fault.where == wire::Where::packed) {
    result.failure = phase +
                     (fault.offset < 0 ? fmt::format("touched {} bytes before the start of", -fault.offset)
                                       : fmt::format("touched {} bytes past the end of", past + 1)) +
                     " its own layout of " + packed_tensor + " (guard page)";
  } else if (fault.where == wire::Where::nowhere && !phase.empty()) {
    result.failure = phase + "raised " + signal_name(fault.signal);
  } else {
    const bool in_memory = fault.where == wire::Where::memory;
    // Of the runner's own memory: a number to show.
    const void* elsewhere =
        reinterpret_cast<const void*>(static_cast<std::uintptr_t>(fault.address));  // NOLINT(performance-no-int-to-ptr)
    result.fault = MemoryFault{fault.signal, in_memory ? memory[fault.index].begin() + fault.offset : elsewhere};
  }
  return result;
}

Execution RemoteExecutor::run(const Call& call, std::span<const CallPart> parts, const Manner& manner) {
  if (late_ == kMostLate) {
    Execution refused;
    refused.failure = fmt::format("was not called: {} calls before gave no answer within {} (--time-limit)", kMostLate,
                                  seconds(runner_.options().limit));
    return refused;
  }
  Execution result = runner_.run(kernel_, call, parts, manner);
  late_ = result.late ? late_ + 1 : 0;
  if (result.took_memory) record_->seen.insert(kAllocates);
  if (result.started_threads) record_->seen.insert(kThreads);
  return result;
}

}  // namespace assay
