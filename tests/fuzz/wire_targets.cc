// The runner's protocol: the decoders of both ends, and a call as the runner takes it.
#include <cstring>

#include "harness/interop/runner/messages.h"
#include "harness/interop/runner/placed_call.h"
#include "tests/fuzz/targets.h"

namespace assay::fuzz {
namespace {

using Payload = std::span<const std::byte>;

// What was read, written again, reads as the same.
template <class Decode>
void require_round_trip(Payload payload, Decode decode) {
  const std::string once = encode(decode(payload));
  const std::string twice = encode(decode(std::as_bytes(std::span(once))));
  require(once == twice, "a message that changes when it is passed on");
}

void decode_as(unsigned kind, Payload payload) {
  const std::vector<std::uint64_t> sizes{0, 16, 4096};
  switch (kind % 6) {
    case 0:
      return require_round_trip(payload, wire::decode_greeting);
    case 1:
      return require_round_trip(payload, wire::decode_loaded);
    case 2:
      return require_round_trip(payload, wire::decode_call);
    case 3:
      return require_round_trip(payload, [&](Payload bytes) { return wire::decode_done(bytes, sizes, kind / 6 % 4); });
    case 4:
      return require_round_trip(payload, [&](Payload bytes) { return wire::decode_fault(bytes, sizes.size()); });
    default:
      if (payload.size() < wire::kHeaderBytes) return;
      return require_round_trip(payload, [](Payload bytes) { return wire::decode_header(bytes.first<wire::kHeaderBytes>()); });
  }
}

constexpr std::uint64_t kArgsBytes = 24;

template <class T>
T argument(const void* args, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(args) + offset, sizeof value);
  return value;
}

// A kernel that returns what its arguments say, three values beyond the enumerators too, and follows none of their pointers; its own layout has the size that they say.
const RunnableKernel& harmless_kernel() {
  static const RunnableKernel kernel{kArgsBytes,
                                     [](const void* args) { return static_cast<AssayStatus>(argument<std::int32_t>(args, 0)); },
                                     [](const void* args) { return std::int64_t{argument<std::int32_t>(args, 4)}; },
                                     [](const void* args, void* packed) {
                                       std::memset(packed, 0x5a, static_cast<std::size_t>(argument<std::int32_t>(args, 4)));
                                       return ASSAY_OK;
                                     }};
  return kernel;
}

constexpr std::int32_t kMostPacked = 1 << 20;  // larger ones are the plugin's own doing
constexpr std::uint64_t kMostTimes = 100;

bool packs_too_much(const wire::CallRequest& request) {
  for (const wire::PartImage& part : request.parts) {
    if (part.blocks[0].size() == kArgsBytes && argument<std::int32_t>(part.blocks[0].data(), 4) > kMostPacked) return true;
  }
  return false;
}

}  // namespace

void run_messages(Input input) {
  if (input.empty()) return;
  try {
    decode_as(input[0], std::as_bytes(input.subspan(1)));
  } catch (const wire::WireError& error) {
    require_message(error.what());
  }
}

void run_requests(Input input) {
  try {
    const wire::CallRequest request = wire::decode_call(std::as_bytes(input));
    if (packs_too_much(request) || request.times > kMostTimes) return;
    Foreign foreign;
    const CallReply reply = run_call(harmless_kernel(), request, foreign);
    std::vector<std::uint64_t> sizes;
    for (const auto& memory : request.memories) sizes.push_back(memory.size());
    if (reply.fault) {
      const std::string bytes = encode(*reply.fault);
      static_cast<void>(wire::decode_fault(std::as_bytes(std::span(bytes)), sizes.size()));
    } else {
      static_cast<void>(wire::decode_done(std::as_bytes(std::span(reply.done)), sizes, request.parts.size()));
    }
  } catch (const wire::WireError& error) {
    require_message(error.what());
  }
}

}  // namespace assay::fuzz
