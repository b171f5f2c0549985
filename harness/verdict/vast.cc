#include "harness/verdict/vast.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "harness/verdict/discipline/kernel_run.h"
#include "harness/verdict/generate_input.h"
#include "harness/verdict/guard.h"
#include "reference/ops/split.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

constexpr std::size_t kMostPages = 4096;     // of a period
constexpr std::size_t kMostDense = 8 << 20;  // bytes, less than any period; tensors of more are their file again and again

std::size_t largest_prime_up_to(std::size_t most) {
  const auto prime = [](std::size_t n) {
    for (std::size_t d = 2; d * d <= n; ++d) {
      if (n % d == 0) return false;
    }
    return n > 2;
  };
  while (!prime(most)) --most;
  return most;
}

bool repeats(const TensorSpec& spec) {
  return spec.role == Direction::in && static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype) > kMostDense;
}

}  // namespace

RepeatedMemory::RepeatedMemory(std::size_t bytes, std::size_t element) : RepeatedMemory() {
  const std::size_t page = guard_page_bytes();
  const std::size_t step = std::lcm(page, element);
  period_ = step * largest_prime_up_to(std::max<std::size_t>(kMostPages * page / step, 3));
  const std::size_t laps = bytes / period_ + 1;
  mapped_ = laps * period_ + 2 * page;
  file_ = memfd_create("assay", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(period_)) != 0) throw std::bad_alloc();
  void* const base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::uint8_t*>(base);
  begin_ = base_ + page;
  for (std::size_t lap = 0; lap < laps; ++lap) {
    if (mmap(begin_ + lap * period_, period_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0) == MAP_FAILED)
      throw std::bad_alloc();
  }
}

RepeatedMemory::RepeatedMemory(RepeatedMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      begin_(other.begin_),
      mapped_(other.mapped_),
      period_(other.period_),
      file_(std::exchange(other.file_, -1)) {}

RepeatedMemory::~RepeatedMemory() {
  if (base_ != nullptr) munmap(base_, mapped_);
  if (file_ >= 0) close(file_);
}

std::int64_t RepeatedMemory::find_written() const {
  const auto end = static_cast<off_t>(period_);
  for (off_t at = lseek(file_, 0, SEEK_DATA); at >= 0 && at < end;) {
    const off_t stop = std::min(end, lseek(file_, at, SEEK_HOLE));
    const auto* const written = std::find_if(begin_ + at, begin_ + stop, [](std::uint8_t byte) { return byte != 0; });
    if (written != begin_ + stop) return written - begin_;
    at = lseek(file_, stop, SEEK_DATA);
  }
  return -1;
}

namespace {

// The last rows of a call whose operations are more than the scalar kernel is asked for.
CallPart last_rows(const Op& op, const CallPart& whole) {
  constexpr double kOperations = 1e8;
  const Signature signature = signature_of(op, whole.params);
  const Split* const split = split_for_threads(signature, whole.params);
  const double operations = cost_of(op, whole.params).operations();
  if (split == nullptr || operations <= kOperations) return whole;
  const auto units = static_cast<double>(most_parts(*split, whole.params));
  const auto first = static_cast<std::int64_t>(units * (1 - kOperations / 4 / operations)) * split->unit;
  return part_of(signature, whole, *split, first, whole.params.integer(split->param));
}

}  // namespace

std::vector<Params> vast_params(const Op& op, double work) {
  constexpr double kOperations = 400;  // times that work
  std::vector<Params> calls = op.family->shapes(op).vast;
  std::erase_if(calls, [&](const Params& params) { return cost_of(op, params).operations() > kOperations * work; });
  return calls;
}

VastCheck::VastCheck(const Op& op, Params params, std::uint64_t seed)
    : op_(op), params_(std::move(params)), signature_(signature_of(op, params_)) {
  for (const TensorSpec& spec : signature_.tensors) {
    const std::size_t size = dtype_size(spec.dtype);
    RepeatedMemory& memory = memory_.emplace_back(spec.extent_bytes(), size);
    pointers_.push_back(memory.begin());
    const Distribution distribution = distribution_for(spec, "gauss");
    const auto stream = static_cast<std::uint32_t>(memory_.size());
    const std::int64_t again = data_period(spec.dtype);
    if (repeats(spec)) {
      const TensorSpec column = input(spec.name, spec.dtype, {static_cast<std::int64_t>(memory.period() / size), 1});
      std::ranges::copy(generate_input(column, distribution, seed, stream, again).bytes, memory.begin());
      inputs_.emplace_back();
    } else if (spec.role == Direction::in) {
      inputs_.push_back(generate_input(spec, distribution, seed, stream, again));
      scatter(spec, inputs_.back(), memory.begin());
      if (gather(spec, memory.begin()).bytes != inputs_.back().bytes)
        throw std::logic_error(fmt::format("{}: rows of {} lie on one another modulo {}", op.name, spec.name, memory.period()));
    }
  }
  all_ = {{params_, pointers_}, signature_, sampled_outputs(op, params_, pointers_, seed)};
  last_ = all_;
  last_.call = last_rows(op, all_.call);
  if (last_.call.pointers == all_.call.pointers) return;
  last_.signature = signature_of(op, last_.call.params);
  last_.expected = sampled_outputs(op, last_.call.params, last_.call.pointers, seed);
}

const VastCheck::Rows& VastCheck::asked_of(const Variant& variant) const {
  return variant.run == variants_of(op_).back().run || isa_row(variant.isa).is_model() ? last_ : all_;
}

VastCheck::Ran VastCheck::run(const Variant& variant) {
  Ran ran;
  const CallPart& call = asked_of(variant).call;
  const Arguments args(op_, call.params, call.pointers);
  const KernelEnd end = run_kernel(variant.run, args.data());
  if (end.fault) {
    ran.violation = !end.fault->text.empty()
                        ? end.fault->text
                        : fmt::format("touched memory that is no tensor's, or raised signal {}", end.fault->signal);
  } else if (end.status != ASSAY_OK) {
    ran.violation = fmt::format("returned {}; expected ok", status_name(static_cast<AssayStatus>(end.status)));
  }
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    if (spec.role == Direction::in) {
      if (!repeats(spec) && gather(spec, pointers_[t]).bytes != inputs_[t].bytes && ran.violation.empty())
        ran.violation = "changed its input " + spec.name;
      continue;
    }
    Array& output = ran.outputs.emplace_back(gather(spec, pointers_[t]));
    ran.last.push_back(gather(last_.signature.tensors[t], last_.call.pointers[t]));
    Array nothing = output;
    std::ranges::fill(nothing.bytes, std::uint8_t{0});
    scatter(spec, nothing, pointers_[t]);  // for the next variant, and so that what is left was written elsewhere
    const std::int64_t left = memory_[t].find_written();
    if (left >= 0 && ran.violation.empty())
      ran.violation = fmt::format("wrote outside the rows of {}: at byte {} modulo {}", spec.name, left, memory_[t].period());
  }
  return ran;
}

std::optional<Failure> VastCheck::judge(const Rows& rows, const Ran& ran, const Checks& checks, CaseResult& result) const {
  if (!ran.violation.empty()) return Failure{Check::guard, ran.violation};
  const std::vector<Array>& outputs = &rows == &last_ ? ran.last : ran.outputs;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const TensorSpec& spec = rows.signature.tensors[inputs_.size() + o];
    const Comparison found = compare_expected(*op_.contract, spec, outputs[o], rows.expected[o]);
    result.compared += found.compared;
    result.margin = std::max(result.margin, found.margin);
    if (found.wrong_class && checks.has(Check::classes)) return Failure{Check::classes, describe_miss(spec, *found.wrong_class)};
    const Check check = op_.contract->exactness == reference::Exactness::exact ? Check::exact : Check::bound;
    if (found.margin > 1 && found.worst && checks.has(check)) return Failure{check, describe_miss(spec, *found.worst)};
    if (checks.has(Check::bits) && ran.last[o].bytes != scalar_->last[o].bytes)
      return Failure{Check::bits, "not the scalar kernel's bits: " + spec.name};
  }
  return std::nullopt;
}

CaseResult VastCheck::check(const Variant& variant, const Checks& checks) {
  const Variant scalar = variants_of(op_).back();
  if (!scalar_) scalar_ = run(scalar);
  CaseResult result;
  result.op = op_.name;
  result.variant = variant.name;
  result.case_name = name();
  result.tags = {"trivial"};
  result.drawn = true;
  result.placements = 1;
  result.failure = judge(asked_of(variant), variant.run == scalar.run ? *scalar_ : run(variant), checks, result);
  if (result.failure) result.verdict = Verdict::fail;
  result.repro = fmt::format("assay check {} --isa {} --case vast", op_.name, isa_name(variant.isa));
  return result;
}

}  // namespace assay
