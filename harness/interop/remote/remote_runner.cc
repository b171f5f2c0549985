#include "harness/interop/remote/remote_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/interop/remote/trouble.h"
#include "harness/plugin/assay_plugin.h"
#include "harness/verdict/declaration.h"

namespace assay {
namespace {

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
  request.text(options_.declared);
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

RemoteRunner::Answer RemoteRunner::ask(wire::Kind kind, const std::string& payload, std::uint64_t most,
                                       std::chrono::milliseconds more) {
  const Deadline deadline = std::chrono::steady_clock::now() + options_.limit + more;
  send(kind, payload, deadline);
  return receive(sequence_, most, deadline);
}

void RemoteRunner::send(wire::Kind kind, const std::string& payload, Deadline deadline) {
  const std::string head = wire::encode({kind, ++sequence_, payload.size()});
  expect(child_->write(std::as_bytes(std::span(head)), deadline), 0, "");
  expect(child_->write(std::as_bytes(std::span(payload)), deadline), 0, "");
}

}  // namespace assay
