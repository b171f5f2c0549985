#include "engine/run/pass_run.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/run/alone_when_crowded.h"
#include "engine/run/engine.h"
#include "engine/run/stored_rows.h"
#include "kernels/isa.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

// A slice or two of another program.
constexpr std::chrono::milliseconds kEnoughSleep{2};

}  // namespace

PassRun::PassRun(const Plan& plan, StepCalls& calls, const Pass& pass, std::size_t end, Observer* observer,
                 std::span<std::uint8_t> observed, KvCache& cache, KvCache::Sequence sequence, StepClock* clock)
    : plan_(plan),
      calls_(calls),
      pass_(pass),
      end_(end),
      observer_(observer),
      observed_(observed),
      cache_(cache),
      sequence_(sequence),
      clock_(clock) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    observed_[i] = observer != nullptr && pass.rows_of(plan.steps[i]) > 0 && observer->wants(plan.steps[i]) ? 1 : 0;
  }
}

void PassRun::run(Team& team, bool alone) {
  team_ = &team;
  parts_ = alone ? 1 : team.size();
  began_ = std::chrono::steady_clock::now();
  slept_ = team.slept();
  if (clock_ != nullptr) clock_->begin(pass_);
  calls_.begin_pass();
  for (std::size_t begin = 0; begin < end_;) {
    const bool watched = observed_[begin] != 0;
    std::size_t end = begin + 1;
    while (!watched && end < end_ && observed_[end] == 0) ++end;
    if (watched) look(begin, true);
    run_stretch(begin, end);
    if (watched) look(begin, false);
    begin = end;
  }
}

void PassRun::run_stretch(std::size_t begin, std::size_t end) {
  stretch_begin_ = begin;
  stretch_end_ = end;
  alone_from_ = end;
  if (parts_ == 1) {
    assert_float_environment();
    run_part(0);
  } else {
    team_->run([this](int part) { run_part(part); });  // so little that std::function holds it without allocating
  }
  if (error_) std::rethrow_exception(error_);
}

// What a thread does may throw; threads go on to their barriers.
template <class Function>
void PassRun::guarded(Function function) {
  if (failed_) return;
  try {
    function();
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
  }
}

bool PassRun::crowded() const {
  const auto slept = team_->slept() - slept_;
  return clock_ == nullptr && slept > kEnoughSleep && better_alone(parts_, slept, std::chrono::steady_clock::now() - began_);
}

// Every thread comes to every barrier, whatever has failed, up to the one behind which the caller goes on alone.
void PassRun::run_part(int part) {
  int parts = parts_;
  StepClock::Time came = time();
  for (std::size_t step = stretch_begin_; step < stretch_end_; ++step) {
    if (parts > 1 && pass_.layout->barriers[step] != 0 && step > stretch_begin_) {
      if (part == 0 && crowded()) alone_from_ = step;
      team_->barrier(part);
      if (step >= alone_from_) {
        if (part > 0) return;
        parts = 1;
      }
    }
    const StepClock::Time began = time();
    guarded([&] { run_step(step, part, parts); });
    if (clock_ != nullptr) came = clock_->add(pass_.rows == 1, step, part, came, began);
  }
}

void PassRun::run_step(std::size_t index, int part, int parts) {
  const Step& step = plan_.steps[index];
  if (pass_.rows_of(step) == 0) return;
  const AssayStatus status = calls_.run(index, pass_, part, parts);
  if (status == ASSAY_OK) return;
  throw EngineError(step.site + ": " + calls_.chosen(index, pass_.layout == &plan_.decode).name + " refuses tokens " +
                    std::to_string(pass_.position_of(step)) + " .. " + std::to_string(pass_.position + pass_.rows - 1) + ": " +
                    std::string(status_name(status)));
}

RowsView PassRun::view(const Step& step, const Operand& operand, const std::uint8_t* data) const {
  const Slot& slot = plan_.slots[static_cast<std::size_t>(operand.slot)];
  const auto element = static_cast<std::int64_t>(dtype_size(slot.dtype));
  RowsView view{data, slot.dtype, pass_.rows_of(step), slot.width * element, {operand.width}};
  if (operand.heads > 0) view.shape.insert(view.shape.begin(), operand.heads);
  return view;
}

void PassRun::look(std::size_t index, bool before) {
  const Step& step = plan_.steps[index];
  std::vector<RowsView> inputs;
  std::vector<RowsView> outputs;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) inputs.push_back(view(step, step.inputs[i], calls_.input(step, pass_, i)));
  for (const Operand& output : step.outputs) outputs.push_back(view(step, output, calls_.address(pass_, output)));
  if (step.kind == StepKind::kv_store && !before)
    outputs.push_back(stored_rows(cache_, sequence_, step.layer, {pass_.position, pass_.rows}, stored_));
  const StepRun run{plan_, index, pass_.position_of(step), pass_.rows_of(step), inputs, outputs, &pass_};
  if (before) {
    observer_->before(run);
  } else {
    observer_->after(run);
  }
}

}  // namespace assay
