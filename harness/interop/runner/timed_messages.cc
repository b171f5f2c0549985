// The messages of timed calls (docs/runner.md).
#include "harness/interop/runner/messages.h"

namespace assay::wire {
namespace {

constexpr std::uint64_t kMostSlots = 1 << 20;
constexpr std::uint64_t kMostTensor = std::uint64_t{1} << 40;

std::uint64_t limited(std::uint64_t value, std::uint64_t most, const char* what) {
  if (value > most)
    throw WireError(std::string("sent ") + what + " " + std::to_string(value) + "; expected at most " + std::to_string(most));
  return value;
}

TimedTensor read_tensor(Reader& in) {
  TimedTensor one;
  one.bytes = limited(in.number<std::uint64_t>("tensor size"), kMostTensor, "a tensor's size");
  one.keep = static_cast<Keep>(limited(in.number<std::uint32_t>("keep"), kKeeps - 1, "a tensor's keep"));
  one.element = in.number<std::uint32_t>("element");
  one.unit = in.number<std::uint32_t>("unit");
  one.free_bits = in.number<std::uint64_t>("free bits");
  one.changing = static_cast<std::uint32_t>(limited(in.number<std::uint32_t>("changing words"), kLineWords, "changing words"));
  one.pattern = in.raw(in.number<std::uint64_t>("pattern size"), "pattern");
  constexpr std::uint32_t kLeastUnit = 12;  // stir()
  constexpr std::uint32_t kLine = sizeof(LineWords);
  if (one.element == 0 || one.pattern.size() % one.element != 0 || (one.unit != 0 && one.unit < kLeastUnit) ||
      (one.free_bits != 0 && one.unit != kLine))
    throw WireError("sent a tensor's data that are no whole elements");
  return one;
}

}  // namespace

std::string encode(const TimedRequest& request) {
  Writer out;
  out.number(request.kernel);
  out.number(request.limit_ms);
  out.number(request.packed);
  out.number(request.slots);
  out.number(static_cast<std::uint32_t>(request.tensors.size()));
  for (const TimedTensor& one : request.tensors) {
    out.number(one.bytes);
    out.number(static_cast<std::uint32_t>(one.keep));
    out.number(one.element);
    out.number(one.unit);
    out.number(one.free_bits);
    out.number(one.changing);
    out.number(static_cast<std::uint64_t>(one.pattern.size()));
    out.raw(one.pattern);
  }
  write(out, request.part);
  return out.bytes();
}

TimedRequest decode_timed(std::span<const std::byte> payload) {
  Reader in(payload);
  TimedRequest request;
  request.kernel = in.number<std::uint32_t>("kernel");
  request.limit_ms = in.number<std::uint64_t>("limit");
  request.packed = in.number<std::uint32_t>("packed pointer");
  request.slots = limited(in.number<std::uint64_t>("slots"), kMostSlots, "slots");
  request.tensors.resize(in.count(40, "tensors"));
  for (TimedTensor& one : request.tensors) one = read_tensor(in);
  request.part = read_part(in, request.tensors.size());
  if (request.slots == 0) throw WireError("sent a call without a slot");
  if (request.packed != kNone && request.packed >= request.part.pointers.size())
    throw WireError("packs a pointer that is not there");
  in.finish();
  return request;
}

std::string encode(const FillRequest& request) {
  Writer out;
  out.number(static_cast<std::uint32_t>(request.what));
  out.number(request.poison);
  out.number(request.laps);
  out.number(request.first);
  out.number(static_cast<std::uint32_t>(request.seeds.size()));
  for (const std::uint64_t seed : request.seeds) out.number(seed);
  return out.bytes();
}

FillRequest decode_fill(std::span<const std::byte> payload) {
  Reader in(payload);
  FillRequest request;
  request.what =
      static_cast<FillRequest::What>(limited(in.number<std::uint32_t>("what to fill"), FillRequest::others, "what to fill"));
  request.poison = in.number<std::uint64_t>("poison");
  request.laps = limited(in.number<std::uint64_t>("laps"), kMostLaps, "laps");
  request.first = in.number<std::uint64_t>("first slot");
  request.seeds.resize(in.count(8, "seeds"));
  for (std::uint64_t& seed : request.seeds) seed = in.number<std::uint64_t>("seed");
  in.finish();
  return request;
}

std::string encode(const TimeRequest& request) {
  Writer out;
  out.number(request.first);
  out.number(request.count);
  out.number(request.laps);
  out.number<std::uint32_t>(request.dry ? 1 : 0);
  return out.bytes();
}

TimeRequest decode_time(std::span<const std::byte> payload) {
  Reader in(payload);
  TimeRequest request;
  request.first = in.number<std::uint64_t>("first slot");
  request.count = limited(in.number<std::uint64_t>("count"), kMostSlots, "calls");
  request.laps = limited(in.number<std::uint64_t>("laps"), kMostLaps, "laps");
  request.dry = in.number<std::uint32_t>("dry") != 0;
  in.finish();
  return request;
}

}  // namespace assay::wire
