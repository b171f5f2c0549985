#include "harness/plan_c/recorded_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace assay {
namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kMostRows = 16;  // of a recorded pass

// A kernel knows nothing but its arguments: who takes them down stands here meanwhile.
thread_local const std::function<void(const void* args)>* listener = nullptr;

AssayStatus listen(const void* args) {
  (*listener)(args);
  return ASSAY_OK;
}

template <class T>
T read_as(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

CLayout lay_out(const Plan& plan) {
  CLayout layout;
  layout.first_layer = plan.config.layers;
  for (const Step& step : plan.steps) {
    if (step.layer < 0) continue;
    layout.first_layer = std::min(layout.first_layer, step.layer);
    layout.last_layer = std::max(layout.last_layer, step.layer);
  }
  KvShape kept = plan.kv.shape;
  kept.layers = layout.last_layer - layout.first_layer + 1;
  layout.cache = round_up(std::max(plan.decode.bytes, plan.prefill.bytes), kAlignment);
  layout.cache_bytes = kv_bytes(kept, plan.options.context);
  layout.arena_bytes = round_up(layout.cache + layout.cache_bytes, kAlignment);
  layout.weight_bytes = plan.weight_bytes;
  for (const PlannedWeight& weight : plan.weights) {
    layout.weights.push_back(weight.in_file ? layout.weight_bytes : weight.offset);
    if (weight.in_file) layout.weight_bytes = round_up(layout.weight_bytes + weight.bytes, kAlignment);
  }
  return layout;
}

CallRecorder::CallRecorder(const Plan& plan, const CLayout& layout)
    : plan_(plan),
      layout_(layout),
      arena_(Mapping::memory(layout_.cache)),
      weights_(Mapping::address_space(plan.weight_bytes)),
      cache_(make_kv_cache(plan.options.kv_policy, plan.kv)),
      sequence_(cache_->open()),
      calls_(plan, reinterpret_cast<const std::uint8_t*>(weights_.begin()), *cache_, sequence_, kMostRows) {
  if (plan.options.chunk < kMostRows) {
    throw std::invalid_argument(
        fmt::format("passes of {} tokens; as C a chunk, and the context, of at least {}", plan.options.chunk, kMostRows));
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    calls_.replace(i, {.op = plan.steps[i].decode, .run = listen}, {.op = plan.steps[i].prefill, .run = listen});
  }
  cache_->reserve(sequence_, plan.options.context);
  cache_->append(sequence_, 1);
  cache_begin_ = static_cast<const char*>(cache_->view(sequence_, layout_.first_layer).front().k);
}

Argument CallRecorder::address(const char* name, const char* nested, const void* pointer) const {
  const auto* const at = static_cast<const char*>(pointer);
  const auto lies_in = [at](const char* begin, std::int64_t bytes) { return at >= begin && at < begin + bytes; };
  if (lies_in(arena_.begin(), layout_.cache)) return {name, nested, ArgumentKind::arena, at - arena_.begin()};
  if (lies_in(cache_begin_, layout_.cache_bytes)) return {name, nested, ArgumentKind::arena, layout_.cache + (at - cache_begin_)};
  if (lies_in(weights_.begin(), plan_.weight_bytes)) return {name, nested, ArgumentKind::weights, at - weights_.begin()};
  for (std::size_t i = 0; i < plan_.weights.size(); ++i) {
    const PlannedWeight& weight = plan_.weights[i];
    const auto* const begin = reinterpret_cast<const char*>(weight.stored->bytes.data());
    if (weight.in_file && lies_in(begin, weight.bytes))
      return {name, nested, ArgumentKind::weights, layout_.weights[i] + (at - begin)};
  }
  throw std::logic_error(fmt::format("{} points into no region of the plan", name));
}

void CallRecorder::read_fields(const Family& family, const char* nested, const std::byte* bytes,
                               std::vector<Argument>& out) const {
  std::vector<const Field*> in_order;
  for (const Field& field : nested == nullptr ? family.fields : family.array_fields) in_order.push_back(&field);
  std::ranges::sort(in_order, {}, &Field::offset);
  for (const Field* const field : in_order) {
    const std::byte* const at = bytes + field->offset;
    switch (field->kind) {
      case FieldKind::tensor:
        if (const auto* const pointer = read_as<const void*>(at); pointer != nullptr)
          out.push_back(address(field->name, nested, pointer));
        break;
      case FieldKind::array:
        read_fields(family, field->name, read_as<const std::byte*>(at), out);
        break;
      case FieldKind::size:
      case FieldKind::number:
      case FieldKind::any:
      case FieldKind::length:
        out.push_back({field->name, nested, ArgumentKind::integer, read_as<std::int64_t>(at)});
        break;
      case FieldKind::choice:
      case FieldKind::int32:
        out.push_back({field->name, nested, ArgumentKind::integer, read_as<std::int32_t>(at)});
        break;
      case FieldKind::real32:
        out.push_back({field->name, nested, ArgumentKind::real32, read_as<std::int32_t>(at)});
        break;
      case FieldKind::real64:
        out.push_back({field->name, nested, ArgumentKind::real64, read_as<std::int64_t>(at)});
        break;
    }
  }
}

RecordedCall CallRecorder::read(const Op& op, const std::byte* args) const {
  RecordedCall call{&op, {}};
  read_fields(*op.family, nullptr, args, call.arguments);
  return call;
}

std::vector<std::vector<RecordedCall>> CallRecorder::record(const RecordedPass& recorded) {
  const bool decode = recorded.decode;
  const Pass pass{decode ? &plan_.decode : &plan_.prefill, reinterpret_cast<std::uint8_t*>(arena_.begin()), recorded.position,
                  recorded.rows, plan_.options.all_logits ? recorded.rows : 1};
  cache_->reset(sequence_);
  cache_->reserve(sequence_, plan_.options.context);
  cache_->append(sequence_, recorded.position);
  cache_->append(sequence_, recorded.rows);
  auto* const tokens =
      reinterpret_cast<std::int32_t*>(pass.arena + pass.layout->offsets[static_cast<std::size_t>(plan_.tokens_slot)]);
  std::fill_n(tokens, recorded.rows, recorded.token);
  calls_.begin_pass();
  std::vector<std::vector<RecordedCall>> calls(plan_.steps.size());
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Op& op = decode ? *plan_.steps[i].decode : *plan_.steps[i].prefill;
    const std::function<void(const void*)> take_down = [&](const void* args) {
      calls[i].push_back(read(op, static_cast<const std::byte*>(args)));
    };
    listener = &take_down;
    (void)calls_.run(i, pass, 0, recorded.parts);  // the first part leaves the cache's view for the others
    if (recorded.part > 0) {
      calls[i].clear();
      (void)calls_.run(i, pass, recorded.part, recorded.parts);
    }
  }
  listener = nullptr;
  return calls;
}

}  // namespace assay
