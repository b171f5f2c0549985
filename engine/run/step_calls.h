// The steps of a plan as calls of ops: which variant runs each, and the arguments of a thread's part of one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kv/cache.h"
#include "engine/plan/plan.h"
#include "engine/run/chosen.h"
#include "engine/threads.h"

namespace assay {

// A run of all steps over the tokens position .. position + rows - 1.
struct Pass {
  const SlotLayout* layout;  // of the decode or the prefill set
  std::uint8_t* arena;
  std::int64_t position;
  std::int64_t rows;
  std::int64_t logit_rows;  // the last so many rows have logits

  std::int64_t rows_of(const Step& step) const { return step.of_logits ? logit_rows : rows; }
  std::int64_t position_of(const Step& step) const { return position + rows - rows_of(step); }
};

class StepCalls {
 public:
  // `weights`: the plan's weights' region, filled. All must outlive the object. Kernels are those within forced_isa(). `parts`: the
  // most that a step is cut into.
  StepCalls(const Plan& plan, const std::uint8_t* weights, KvCache& cache, KvCache::Sequence sequence, int parts);

  // Another backend, or the best variant within another limit, for one step.
  void choose(std::size_t step, Backend backend, IsaLimit limit);
  // The chosen variant of a step, or its reference in its place.
  void set_backend(std::size_t step, Backend backend) { steps_[step].decode.backend = steps_[step].prefill.backend = backend; }
  // A step's variants themselves, such as a stranger's. They must be of the ops that the step names.
  void replace(std::size_t step, const Chosen& decode, const Chosen& prefill);
  const Chosen& chosen(std::size_t step, bool decode) const { return decode ? steps_[step].decode : steps_[step].prefill; }

  // Before the threads of a pass.
  void begin_pass();
  // Part `part` of `parts` of a step, or where what a thread takes depends on its speed, that; parts may run at the same time. Anything but ASSAY_OK: this part wrote nothing more.
  AssayStatus run(std::size_t step, const Pass& pass, int part, int parts);
  // The whole step by its reference, cut among the team's threads, of which there are at most `parts`; it leaves its truth in `sink` if
  // that is not null. What is chosen stays chosen. Not while the step runs.
  AssayStatus run_by_reference(std::size_t step, const Pass& pass, ReferenceSink* sink, Team& team);

  // A step's operands in a pass, and the address of an operand's first row: where a step of logits reads a slot that has all
  // tokens, that of the first token of logits.
  std::uint8_t* address(const Pass& pass, const Operand& operand) const;
  std::uint8_t* input(const Step& step, const Pass& pass, std::size_t index) const;
  // A step's weight as its op takes it.
  const std::uint8_t* weight(const Step& step) const;

 private:
  struct Call {
    Chosen decode;
    Chosen prefill;
  };

  const Chosen& chosen_for(std::size_t step, const Pass& pass) const;
  std::int64_t width(const Operand& operand) const;  // of the slot: its rows' stride in elements
  float* f32(const Pass& pass, const Operand& operand, std::int64_t row) const;
  const float* f32_input(const Step& step, const Pass& pass, std::size_t index, std::int64_t row) const;

  AssayStatus rope_table(std::size_t index, const Pass& pass, IndexRange rows) const;
  AssayStatus embed(std::size_t index, const Pass& pass, IndexRange rows) const;
  AssayStatus rms_norm(std::size_t index, const Pass& pass, IndexRange rows) const;
  AssayStatus quantize(std::size_t index, const Pass& pass, IndexRange rows) const;
  // Body takes ranges of [0, count): in prefill, whose passes are long, what a thread can get, else its part.
  template <class Body>
  AssayStatus share(std::size_t index, const Pass& pass, int part, int parts, std::int64_t count, std::int64_t least,
                    const Body& body);
  AssayStatus linear(std::size_t index, const Pass& pass, int part, int parts);
  AssayStatus rope(std::size_t index, const Pass& pass, IndexRange rows) const;
  AssayStatus add(std::size_t index, const Pass& pass, IndexRange rows) const;
  AssayStatus swiglu(std::size_t index, const Pass& pass, IndexRange rows) const;
  AssayStatus kv_store(std::size_t index, const Pass& pass, int part, int parts);
  AssayStatus attention(std::size_t index, const Pass& pass, int part, int parts);
  // The view as kv heads `first` and after see it.
  std::span<const AssayKvSpan> view_of_heads(int part, std::int64_t first);

  const Plan& plan_;
  const std::uint8_t* weights_;
  KvCache& cache_;
  KvCache::Sequence sequence_;
  std::vector<Call> steps_;
  std::vector<SharedRange> taken_;                 // by step, of the pass
  std::span<const AssayKvSpan> view_;              // of the layer whose rows were stored last
  std::vector<std::vector<AssayKvSpan>> shifted_;  // by part: room for a view of its own
};

template <class Body>
AssayStatus StepCalls::share(std::size_t index, const Pass& pass, int part, int parts, std::int64_t count, std::int64_t least,
                             const Body& body) {
  const bool decode = pass.layout == &plan_.decode;
  if (parts == 1 || decode) {
    const IndexRange range = range_of_part(count, part, parts);
    return range.count() == 0 ? ASSAY_OK : body(range);
  }
  for (;;) {
    const IndexRange range = taken_[index].take(count, least, parts);
    if (range.count() == 0) return ASSAY_OK;
    const AssayStatus status = body(range);
    if (status != ASSAY_OK) return status;
  }
}

}  // namespace assay
