// The messages between a host and a runner, as values (docs/runner.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/interop/runner/timed_data.h"
#include "harness/interop/runner/wire.h"

namespace assay::wire {

struct KernelInfo {
  std::string op;
  std::string name;
  std::string isa;
  bool runs = false;  // the runner's CPU has that ISA
  std::uint64_t args_bytes = 0;
  std::uint32_t claim = 0;  // AssayPluginClaim
  std::string packed_tensor;
  std::string properties = {};    // what it declares (harness/interop/plugin/properties.h)
  std::uint64_t code_offset = 0;  // of its function in the plugin's file as loaded; 0: unknown
};

struct Greeting {
  std::uint32_t protocol = kProtocol;
  std::uint32_t abi = 0;             // ASSAY_PLUGIN_ABI
  std::uint32_t order = 0x01020304;  // as the machine stores it
  std::uint32_t pointer_bytes = sizeof(void*);
  std::uint64_t page_bytes = 0;
  std::string machine;       // "aarch64"
  std::string isas;          // "scalar, avx2"
  std::uint32_t keeper = 0;  // the thread that talks to the host and runs nothing foreign (foreign.h); 0: the first
  std::string unbound;       // why it has given nothing up of itself (tighten.h); empty: it has
  std::vector<KernelInfo> kernels;
};

struct Loaded {
  std::string name;
  std::string version;
  std::vector<KernelInfo> kernels;
};

// A word of a block that is a pointer: into a memory of the call, or to the start of another block.
struct Pointer {
  std::uint32_t block = 0;   // where the word is
  std::uint64_t offset = 0;  // a multiple of 8
  bool to_block = false;
  std::uint32_t target = 0;  // the memory, or the block
  std::int64_t addend = 0;   // bytes from the target's start
};

// The arguments of one part of a call: block 0 is the op's argument struct, the others what it points to beside tensors.
struct PartImage {
  std::vector<std::vector<std::byte>> blocks;
  std::vector<Pointer> pointers;
};

inline constexpr std::uint32_t kNone = 0xffffffff;

struct CallRequest {
  std::uint32_t kernel = 0;  // as numbered in the greeting and the loaded messages, one after the other
  std::uint64_t limit_ms = 0;
  bool at_once = false;          // the parts on threads, else one after the other
  std::uint64_t times = 1;       // one part alone: so many calls, each from the same memory
  std::uint32_t packed = kNone;  // which of a part's pointers a packed layout replaces
  std::vector<PartImage> parts;
  std::vector<std::span<const std::byte>> memories;  // whole pages, between guard pages
  std::vector<bool> read_only;                       // of each memory, whether the kernel gets it where it can only be read
};

struct Done {
  std::uint64_t odd_call = 0;                                       // of many the first that differed from the first; 0: none
  bool took_memory = false;                                         // some part did
  bool started_threads = false;                                     // likewise
  std::vector<std::int32_t> statuses;                               // a part each
  std::vector<std::optional<std::span<const std::byte>>> memories;  // those that changed
};

// A call to be timed again and again: its slots are copies of its tensors, each with data of its own.
struct TimedRequest {
  std::uint32_t kernel = 0;
  std::uint64_t limit_ms = 0;
  std::uint32_t packed = kNone;  // which pointer a packed layout replaces
  std::uint64_t slots = 0;
  std::vector<TimedTensor> tensors;  // of the signature; a pointer's memory is the tensor of that number
  PartImage part;
};

// Fresh data for slots from `first` on, round the ring. What a kernel packs comes before all other inputs of a batch: while it packs it must
// find none of them.
struct FillRequest {
  enum What : std::uint32_t { all = 0, packed = 1, others = 2 };
  What what = all;
  std::uint64_t poison = 0;  // of outputs, beside the seeds
  std::uint64_t laps = 1;    // as the data are in this call of the slot
  std::uint64_t first = 0;
  std::vector<std::uint64_t> seeds;
};

// Slots from `first` on, round the ring; all of them so many times, with data that change between.
struct TimeRequest {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t laps = 1;
  bool dry = false;  // all but the calls: what is not theirs
};

enum class Phase : std::uint32_t { packed_bytes = 0, pack = 1, run = 2 };
enum class Where : std::uint32_t { nowhere = 0, memory = 1, packed = 2 };

struct Fault {
  Phase phase = Phase::run;
  std::int32_t signal = 0;  // 0: none; text says what
  Where where = Where::nowhere;
  std::uint32_t index = 0;         // the memory
  std::int64_t offset = 0;         // from its start; of a packed layout, from the layout's start
  std::uint64_t packed_bytes = 0;  // the packed layout's size
  std::uint64_t address = 0;
  std::string text;
};

void write(Writer& out, const PartImage& part);
// `memories`: how many there are to point into.
PartImage read_part(Reader& in, std::size_t memories);

std::string encode(const Greeting& greeting);
std::string encode(const Loaded& loaded);
std::string encode(const CallRequest& request);
std::string encode(const Done& done);
std::string encode(const TimedRequest& request);
std::string encode(const FillRequest& request);
std::string encode(const TimeRequest& request);
std::string encode(const Fault& fault);
// Each throws WireError for a payload that is too short, too long or holds what cannot be. The spans lie in the payload.
Greeting decode_greeting(std::span<const std::byte> payload);
Loaded decode_loaded(std::span<const std::byte> payload);
CallRequest decode_call(std::span<const std::byte> payload);
TimedRequest decode_timed(std::span<const std::byte> payload);
FillRequest decode_fill(std::span<const std::byte> payload);
TimeRequest decode_time(std::span<const std::byte> payload);
// `memories`: the sizes of those of the call; `parts`: how many it had.
Done decode_done(std::span<const std::byte> payload, const std::vector<std::uint64_t>& memories, std::size_t parts);
Fault decode_fault(std::span<const std::byte> payload, std::size_t memories);

}  // namespace assay::wire
