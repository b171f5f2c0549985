#include "harness/interop/runner/messages.h"

#include "kernels/abi.h"

namespace assay::wire {
namespace {

constexpr std::uint64_t kLeastKernel = 44;  // bytes of a KernelInfo with empty texts

void write(Writer& out, const std::vector<KernelInfo>& kernels) {
  out.number(static_cast<std::uint32_t>(kernels.size()));
  for (const KernelInfo& one : kernels) {
    out.text(one.op);
    out.text(one.name);
    out.text(one.isa);
    out.number<std::uint32_t>(one.runs ? 1 : 0);
    out.number(one.args_bytes);
    out.number(one.claim);
    out.text(one.packed_tensor);
    out.text(one.properties);
    out.number(one.code_offset);
  }
}

std::vector<KernelInfo> read_kernels(Reader& in) {
  std::vector<KernelInfo> kernels(in.count(kLeastKernel, "kernels"));
  for (KernelInfo& one : kernels) {
    one.op = in.shown_text("op");
    one.name = in.shown_text("kernel name");
    one.isa = in.shown_text("ISA");
    one.runs = in.number<std::uint32_t>("runs") != 0;
    one.args_bytes = in.number<std::uint64_t>("args_bytes");
    one.claim = in.number<std::uint32_t>("claim");
    one.packed_tensor = in.shown_text("packed_tensor");
    one.properties = in.shown_text("properties");
    one.code_offset = in.number<std::uint64_t>("code_offset");
  }
  return kernels;
}

std::uint32_t at_most(std::uint32_t value, std::uint32_t most, const char* what) {
  if (value > most) {
    throw WireError(std::string("sent ") + what + " " + std::to_string(value) + "; expected at most " + std::to_string(most));
  }
  return value;
}

}  // namespace

void write(Writer& out, const PartImage& part) {
  out.number(static_cast<std::uint32_t>(part.blocks.size()));
  for (const auto& block : part.blocks) {
    out.number(static_cast<std::uint64_t>(block.size()));
    out.raw(block);
  }
  out.number(static_cast<std::uint32_t>(part.pointers.size()));
  for (const Pointer& one : part.pointers) {
    out.number(one.block);
    out.number(one.offset);
    out.number<std::uint32_t>(one.to_block ? 1 : 0);
    out.number(one.target);
    out.number(one.addend);
  }
}

PartImage read_part(Reader& in, std::size_t memories) {
  PartImage part;
  part.blocks.resize(in.count(8, "blocks"));
  for (auto& block : part.blocks) {
    const auto bytes = in.raw(in.number<std::uint64_t>("block size"), "block");
    block.assign(bytes.begin(), bytes.end());
  }
  if (part.blocks.empty()) throw WireError("sent a part without a block");
  part.pointers.resize(in.count(28, "pointers"));
  for (Pointer& one : part.pointers) {
    one.block = in.number<std::uint32_t>("pointer's block");
    one.offset = in.number<std::uint64_t>("pointer's offset");
    one.to_block = in.number<std::uint32_t>("pointer's kind") != 0;
    one.target = in.number<std::uint32_t>("pointer's target");
    one.addend = in.number<std::int64_t>("pointer's addend");
    const bool inside = one.block < part.blocks.size() && one.offset % 8 == 0 && part.blocks[one.block].size() >= 8 &&
                        one.offset <= part.blocks[one.block].size() - 8;
    if (!inside || one.target >= (one.to_block ? part.blocks.size() : memories))
      throw WireError("sent a pointer that lies nowhere");
  }
  return part;
}

std::string encode(const Greeting& greeting) {
  Writer out;
  out.number(greeting.protocol);
  out.number(greeting.abi);
  out.number(greeting.order);
  out.number(greeting.pointer_bytes);
  out.number(greeting.page_bytes);
  out.text(greeting.machine);
  out.text(greeting.isas);
  out.text(greeting.unbound);
  out.number(greeting.keeper);
  write(out, greeting.kernels);
  return out.bytes();
}

Greeting decode_greeting(std::span<const std::byte> payload) {
  Reader in(payload);
  Greeting greeting;
  greeting.protocol = in.number<std::uint32_t>("protocol");
  greeting.abi = in.number<std::uint32_t>("abi");
  // What follows is read only from a machine like this.
  if (greeting.protocol != kProtocol) {
    throw WireError("speaks protocol " + std::to_string(greeting.protocol) + "; expected " + std::to_string(kProtocol));
  }
  greeting.order = in.number<std::uint32_t>("byte order");
  if (greeting.order != 0x01020304) throw WireError("is a machine of another byte order; expected little-endian");
  greeting.pointer_bytes = in.number<std::uint32_t>("pointer size");
  if (greeting.pointer_bytes != sizeof(void*)) {
    throw WireError("has pointers of " + std::to_string(greeting.pointer_bytes) + " bytes; expected " +
                    std::to_string(sizeof(void*)));
  }
  greeting.page_bytes = in.number<std::uint64_t>("page size");
  constexpr std::uint64_t kLeast = 4096;
  constexpr std::uint64_t kMost = 1 << 20;
  if (greeting.page_bytes < kLeast || greeting.page_bytes > kMost || (greeting.page_bytes & (greeting.page_bytes - 1)) != 0) {
    throw WireError("has pages of " + std::to_string(greeting.page_bytes) + " bytes; expected a power of two, 4096 to 1048576");
  }
  greeting.machine = in.shown_text("machine");
  greeting.isas = in.shown_text("ISAs");
  greeting.unbound = in.shown_text("unbound");
  greeting.keeper = in.number<std::uint32_t>("keeper");
  greeting.kernels = read_kernels(in);
  in.finish();
  return greeting;
}

std::string encode(const Loaded& loaded) {
  Writer out;
  out.text(loaded.name);
  out.text(loaded.version);
  write(out, loaded.kernels);
  return out.bytes();
}

Loaded decode_loaded(std::span<const std::byte> payload) {
  Reader in(payload);
  Loaded loaded;
  loaded.name = in.shown_text("plugin name");
  loaded.version = in.shown_text("plugin version");
  loaded.kernels = read_kernels(in);
  in.finish();
  return loaded;
}

std::string encode(const CallRequest& request) {
  Writer out;
  out.number(request.kernel);
  out.number(request.limit_ms);
  out.number<std::uint32_t>(request.at_once ? 1 : 0);
  out.number(request.times);
  out.number(request.packed);
  out.number(static_cast<std::uint32_t>(request.memories.size()));
  for (std::size_t m = 0; m < request.memories.size(); ++m) {
    out.number(static_cast<std::uint64_t>(request.memories[m].size()));
    out.number<std::uint32_t>(request.read_only[m] ? 1 : 0);
  }
  out.number(static_cast<std::uint32_t>(request.parts.size()));
  for (const PartImage& part : request.parts) write(out, part);
  for (const auto& memory : request.memories) out.raw(memory);
  return out.bytes();
}

CallRequest decode_call(std::span<const std::byte> payload) {
  Reader in(payload);
  CallRequest request;
  request.kernel = in.number<std::uint32_t>("kernel");
  request.limit_ms = in.number<std::uint64_t>("limit");
  request.at_once = in.number<std::uint32_t>("at once") != 0;
  request.times = in.number<std::uint64_t>("times");
  request.packed = in.number<std::uint32_t>("packed pointer");
  std::vector<std::uint64_t> sizes(in.count(12, "memories"));
  for (std::uint64_t& size : sizes) {
    size = in.number<std::uint64_t>("memory size");
    request.read_only.push_back(in.number<std::uint32_t>("read-only") != 0);
  }
  request.parts.resize(in.count(8, "parts"));
  for (PartImage& part : request.parts) {
    part = read_part(in, sizes.size());
    if (request.packed != kNone && request.packed >= part.pointers.size()) throw WireError("packs a pointer that is not there");
  }
  if (request.parts.empty()) throw WireError("sent a call without a part");
  if (request.times == 0 || (request.times > 1 && request.parts.size() > 1)) {
    throw WireError("asks for " + std::to_string(request.times) + " calls of " + std::to_string(request.parts.size()) + " parts");
  }
  for (const std::uint64_t size : sizes) request.memories.push_back(in.raw(size, "memory"));
  in.finish();
  return request;
}

std::string encode(const Done& done) {
  Writer out;
  out.number(done.odd_call);
  for (const std::int32_t status : done.statuses) out.number(status);
  out.number<std::uint32_t>(done.took_memory ? 1 : 0);
  out.number<std::uint32_t>(done.started_threads ? 1 : 0);
  for (const auto& memory : done.memories) {
    out.number<std::uint32_t>(memory ? 1 : 0);
    if (memory) out.raw(*memory);
  }
  return out.bytes();
}

Done decode_done(std::span<const std::byte> payload, const std::vector<std::uint64_t>& memories, std::size_t parts) {
  Reader in(payload);
  Done done;
  done.odd_call = in.number<std::uint64_t>("odd call");
  for (std::size_t part = 0; part < parts; ++part) {
    const auto status = in.number<std::int32_t>("status");
    if (status < 0 || status >= ASSAY_STATUS_COUNT) {
      throw WireError("sent the status " + std::to_string(status) + "; expected 0 to " + std::to_string(ASSAY_STATUS_COUNT - 1));
    }
    done.statuses.push_back(status);
  }
  done.took_memory = at_most(in.number<std::uint32_t>("took memory"), 1, "whether it took memory") == 1;
  done.started_threads = at_most(in.number<std::uint32_t>("started threads"), 1, "whether it started threads") == 1;
  for (const std::uint64_t size : memories) {
    auto& memory = done.memories.emplace_back();
    if (at_most(in.number<std::uint32_t>("memory's mark"), 1, "a memory's mark") == 1) memory = in.raw(size, "memory");
  }
  in.finish();
  return done;
}

std::string encode(const Fault& fault) {
  Writer out;
  out.number(static_cast<std::uint32_t>(fault.phase));
  out.number(fault.signal);
  out.number(static_cast<std::uint32_t>(fault.where));
  out.number(fault.index);
  out.number(fault.offset);
  out.number(fault.packed_bytes);
  out.number(fault.address);
  out.text(fault.text);
  return out.bytes();
}

Fault decode_fault(std::span<const std::byte> payload, std::size_t memories) {
  Reader in(payload);
  Fault fault;
  fault.phase = static_cast<Phase>(at_most(in.number<std::uint32_t>("phase"), 2, "a fault's phase"));
  fault.signal = static_cast<std::int32_t>(at_most(in.number<std::uint32_t>("signal"), 64, "a fault's signal"));
  fault.where = static_cast<Where>(at_most(in.number<std::uint32_t>("where"), 2, "a fault's place"));
  fault.index = in.number<std::uint32_t>("index");
  fault.offset = in.number<std::int64_t>("offset");
  fault.packed_bytes = in.number<std::uint64_t>("packed bytes");
  fault.address = in.number<std::uint64_t>("address");
  fault.text = in.shown_text("text");
  in.finish();
  constexpr auto kFarthest = static_cast<std::int64_t>(kMostBytes);
  if (fault.offset < -kFarthest || fault.offset > kFarthest || fault.packed_bytes > kMostBytes) {
    throw WireError("sent a fault at " + std::to_string(fault.offset) + " of a layout of " + std::to_string(fault.packed_bytes) +
                    " bytes; expected numbers up to " + std::to_string(kMostBytes));
  }
  if (fault.where == Where::memory && fault.index >= memories) {
    throw WireError("sent a fault in memory " + std::to_string(fault.index) + " of " + std::to_string(memories));
  }
  if (fault.signal == 0 && fault.text.empty()) throw WireError("sent a fault that says nothing");
  return fault;
}

}  // namespace assay::wire
