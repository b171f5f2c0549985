// The kernels' calls that the engine makes for a plan, written down instead of run: with every argument as a number, an address as an
// offset in the region that it lies in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/kv/mapping.h"
#include "engine/run/step_calls.h"

namespace assay {

// Where a plan's memory lies in a C program: one arena, of activations and then the cache, and one file of weights, in which those that
// the engine reads in the model's own file stand last.
struct CLayout {
  std::int64_t first_layer = 0;  // of those that the plan has steps of
  std::int64_t last_layer = 0;
  std::int64_t cache = 0;  // in the arena: keys, then values of each layer, [n_kv, context, head_dim_padded]
  std::int64_t cache_bytes = 0;
  std::int64_t arena_bytes = 0;
  std::vector<std::int64_t> weights;  // by weight of the plan
  std::int64_t weight_bytes = 0;
};
CLayout lay_out(const Plan& plan);

enum class ArgumentKind : std::uint8_t { integer, real32, real64, arena, weights };

// A field of an argument struct, or of the AssayKvSpan that its field `nested` points to.
struct Argument {
  const char* name;
  const char* nested = nullptr;
  ArgumentKind kind = ArgumentKind::integer;
  std::int64_t value = 0;  // a real's bits
};

struct RecordedCall {
  const Op* op;
  std::vector<Argument> arguments;  // in the struct's order
};

// What is recorded of: the pass, its tokens all the same one, and part of how many.
struct RecordedPass {
  bool decode;
  std::int64_t position;
  std::int64_t rows;
  std::int32_t token = 0;
  int part = 0;
  int parts = 1;
};

// Of a plan with a contiguous cache. Nothing of it is loaded, and no kernel runs.
class CallRecorder {
 public:
  CallRecorder(const Plan& plan, const CLayout& layout);  // which outlive it

  // By step, the calls in their order.
  std::vector<std::vector<RecordedCall>> record(const RecordedPass& pass);

 private:
  Argument address(const char* name, const char* nested, const void* pointer) const;
  void read_fields(const Family& family, const char* nested, const std::byte* bytes, std::vector<Argument>& out) const;
  RecordedCall read(const Op& op, const std::byte* args) const;

  const Plan& plan_;
  const CLayout& layout_;
  Mapping arena_;
  Mapping weights_;  // addresses alone
  std::unique_ptr<KvCache> cache_;
  KvCache::Sequence sequence_;
  StepCalls calls_;
  const char* cache_begin_ = nullptr;
};

}  // namespace assay
