#include "harness/verdict/vast.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "harness/verdict/compare.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/generate_input.h"
#include "reference/ops/split.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

constexpr std::size_t kMostApart = 8 << 20;     // bytes, less than any period; tensors of more are their file again and again,
constexpr std::size_t kMostDense = 10 << 20;    // where rows have no gaps, from here on: whose file is as long
constexpr std::size_t kMostInParts = 96 << 20;  // bytes of a tensor: what is longer is there for its addresses
constexpr std::size_t kKeptInputs = 8;          // of 16 MiB
constexpr double kCheapToCut = 1 << 24;
constexpr std::int64_t kRowsToCut = 128;
constexpr auto kTwice = [](std::int64_t units) { return 2 * units; };
constexpr auto kOneMore = [](std::int64_t units) { return units + 1; };
// Each two counts of rows and columns; every count, where calls are cheap; counts of many rows beside all columns, where they are not dear.
struct Cutting {
  Growth growth;
  bool by_all;
  double most_work;
};
constexpr Cutting kCuttings[] = {
    {{1, kTwice}, true, 1e12}, {{1, kOneMore}, true, kCheapToCut}, {{1, kTwice}, false, 1e9}, {{7, kTwice}, false, 2e8}};

bool repeats(const TensorSpec& spec) {
  const bool dense = spec.extent() == spec.elements();
  const std::size_t bytes = static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype);
  return spec.role == Direction::in && bytes > (dense ? kMostDense : kMostApart);
}

// Bytes of a tensor without gaps that must not lie on itself.
std::size_t at_once(const TensorSpec& spec) {
  return spec.extent() == spec.elements() ? spec.extent_bytes() : 0;
}

// The last rows of a call whose operations are more than the scalar kernel is asked for.
CallPart last_rows(const Op& op, const CallPart& whole) {
  constexpr double kOperations = 2.5e7;
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
  std::ranges::move(grid_params(op, work >= kLongWork), std::back_inserter(calls));
  return calls;
}

std::shared_ptr<const RepeatedFile> RepeatedInputs::of(const TensorSpec& spec, std::uint32_t stream) {
  const Distribution distribution = distribution_for(spec, "gauss");
  const auto same = [&](const Made& made) {
    return made.dtype == spec.dtype && made.distribution == distribution && made.stream == stream;
  };
  const auto found = std::ranges::find_if(made_, same);
  if (found != made_.end()) return found->file;
  if (made_.size() == kKeptInputs) made_.erase(made_.begin());
  const std::size_t size = dtype_size(spec.dtype);
  auto file = std::make_shared<RepeatedFile>(size);
  const TensorSpec column = input(spec.name, spec.dtype, {static_cast<std::int64_t>(file->bytes() / size), 1});
  file->write(generate_input(column, distribution, seed_, stream, data_period(spec.dtype)).bytes);
  return made_.emplace_back(spec.dtype, distribution, stream, std::move(file)).file;
}

VastCheck::VastCheck(const Op& op, Params params, RepeatedInputs& inputs)
    : op_(op), params_(std::move(params)), signature_(signature_of(op, params_)) {
  for (const TensorSpec& spec : signature_.tensors) place(spec, inputs);
  all_ = {{params_, pointers_}, signature_, sampled_outputs(op, params_, pointers_, inputs.seed())};
  const CallPart last = last_rows(op, all_.call);
  if (last.pointers == pointers_) return;
  last_ = Rows{last, signature_of(op, last.params), sampled_outputs(op, last.params, last.pointers, inputs.seed())};
}

void VastCheck::place(const TensorSpec& spec, RepeatedInputs& inputs) {
  const auto stream = static_cast<std::uint32_t>(memory_.size() + 1);
  const auto file =
      repeats(spec) ? inputs.of(spec, stream) : std::make_shared<const RepeatedFile>(dtype_size(spec.dtype), at_once(spec));
  const RepeatedMemory& memory = memory_.emplace_back(file, spec);
  pointers_.push_back(memory.begin());
  if (spec.role == Direction::out) return;
  if (!repeats(spec)) {
    const Array data = generate_input(spec, distribution_for(spec, "gauss"), inputs.seed(), stream, data_period(spec.dtype));
    if (at_once(spec) > 0) {
      file->write(data.bytes);  // the kernel's pages, without a fault of each
    } else {
      scatter(spec, data, memory.begin());
      if (!holds(spec, memory.begin(), data))
        throw std::logic_error(fmt::format("{}: rows of {} lie on one another modulo {}", op_.name, spec.name, memory.period()));
    }
  }
  memory.read_only();
}

std::string VastCheck::complaint(const KernelEnd& end) const {
  if (!end.fault && end.status == ASSAY_OK) return "";
  if (!end.fault) return fmt::format("returned {}; expected ok", status_name(static_cast<AssayStatus>(end.status)));
  if (!end.fault->text.empty()) return end.fault->text;
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    if (!memory_[t].owns(end.fault->address)) continue;
    const char* const what =
        memory_[t].in_gap(end.fault->address) ? "touched what lies between or around rows of " : "changed its input ";
    return what + signature_.tensors[t].name;
  }
  return fmt::format("touched memory that is no tensor's, or raised signal {}", end.fault->signal);
}

bool VastCheck::is_slow(const Variant& variant) const {
  return variant.run == variants_of(op_).back().run || isa_row(variant.isa).is_model();
}

const VastCheck::Rows& VastCheck::asked_of(const Variant& variant) const {
  return last_ && is_slow(variant) ? *last_ : all_;
}

VastCheck::Ran VastCheck::run(const Variant& variant, std::span<const CallPart> parts) {
  Ran ran;
  for (const CallPart& part : parts) {
    const Arguments args(op_, part.params, part.pointers);
    ran.violation = complaint(run_kernel(variant.run, args.data()));
    if (!ran.violation.empty()) break;
  }
  for (std::size_t t = 0; t < memory_.size(); ++t) {
    const TensorSpec& spec = signature_.tensors[t];
    if (spec.role == Direction::in) continue;
    ran.outputs.push_back(gather(spec, pointers_[t]));
    if (last_) ran.last.push_back(gather(last_->signature.tensors[t], last_->call.pointers[t]));
    clear(spec, pointers_[t]);  // for the next variant, and so that what is left was written elsewhere
    const std::int64_t left = memory_[t].find_written();
    if (left >= 0 && ran.violation.empty())
      ran.violation = fmt::format("wrote outside the rows of {}: at byte {} modulo {}", spec.name, left, memory_[t].period());
  }
  return ran;
}

std::optional<Failure> VastCheck::judge(const Rows& rows, const Ran& ran, const Checks& checks, CaseResult& result) const {
  if (!ran.violation.empty()) return Failure{Check::guard, ran.violation};
  const std::vector<Array>& outputs = &rows == &all_ ? ran.outputs : last_of(ran);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const TensorSpec& spec = rows.signature.tensors[memory_.size() - outputs.size() + o];
    const Comparison found = compare_expected(*op_.contract, spec, outputs[o], rows.expected[o]);
    result.compared += found.compared;
    result.margin = std::max(result.margin, found.margin);
    if (found.wrong_class && checks.has(Check::classes)) return Failure{Check::classes, describe_miss(spec, *found.wrong_class)};
    const Check check = op_.contract->exactness == reference::Exactness::exact ? Check::exact : Check::bound;
    if (found.margin > 1 && checks.has(check))
      return Failure{check, found.worst ? describe_miss(spec, *found.worst) : found.note};
    if (checks.has(Check::bits) && last_of(ran)[o].bytes != last_of(*scalar_)[o].bytes)
      return Failure{Check::bits, "not the scalar kernel's bits: " + spec.name};
  }
  return std::nullopt;
}

std::optional<Failure> VastCheck::check_parts(const Variant& variant, const Ran& whole) {
  const std::vector<TensorSpec>& specs = all_.signature.tensors;
  if (std::ranges::any_of(specs, [](const TensorSpec& spec) { return spec.extent_bytes() > kMostInParts; })) return std::nullopt;
  const std::vector<Split>& splits = all_.signature.splits;
  if (splits.empty()) return std::nullopt;
  const bool many_rows = splits.size() > 1 && params_.integer(splits.front().param) >= kRowsToCut;
  for (const auto& [growth, by_all, most_work] : kCuttings) {
    if (work_of(op_, params_) > most_work || (!by_all && !many_rows)) continue;
    const std::vector<CallPart> parts = growing_parts(op_, all_.call, growth, by_all);
    const Ran ran = run(variant, parts);
    const bool any_nan = op_.contract->exactness == reference::Exactness::bounded || op_.contract->arithmetic_nans;
    std::string wrong = ran.violation.empty() ? other_bits(all_.signature, whole.outputs, ran.outputs, any_nan) : ran.violation;
    if (!wrong.empty())
      return Failure{Check::guard,
                     fmt::format("other bits in {} parts that grow from {}: {}", parts.size(), growth.first, wrong)};
  }
  return std::nullopt;
}

std::optional<Failure> VastCheck::check_in_place(const Variant& variant, const Ran& whole) {
  const std::vector<TensorSpec>& specs = signature_.tensors;
  for (std::size_t out = 0; out < specs.size(); ++out) {
    for (std::size_t on = 0; on < specs.size() && !specs[out].in_place_only; ++on) {
      if (std::ranges::find(specs[out].aliases, specs[on].name) == specs[out].aliases.end()) continue;
      if (repeats(specs[on]) || specs[on].extent_bytes() > kMostDense) continue;
      scatter(specs[on], gather(specs[on], pointers_[on]), pointers_[out]);
      CallPart part = all_.call;
      part.pointers[on] = pointers_[out];
      const Ran ran = run(variant, {&part, 1});
      const std::string wrong = ran.violation.empty() ? other_bits(signature_, whole.outputs, ran.outputs, true) : ran.violation;
      if (!wrong.empty())
        return Failure{Check::guard, fmt::format("with {} in place of {}: {}", specs[out].name, specs[on].name, wrong)};
    }
  }
  return std::nullopt;
}

CaseResult VastCheck::check(const Variant& variant, const Checks& checks) {
  const Variant scalar = variants_of(op_).back();
  if (!scalar_) scalar_ = run(scalar, {&asked_of(scalar).call, 1});
  CaseResult result;
  result.op = op_.name;
  result.variant = variant.name;
  result.case_name = name();
  result.tags = {"trivial"};
  result.drawn = true;
  result.placements = 1;
  const bool is_scalar = variant.run == scalar.run;
  const Rows& asked = asked_of(variant);
  const Ran ran = is_scalar ? *scalar_ : run(variant, {&asked.call, 1});
  result.failure = judge(asked, ran, checks, result);
  if (!result.failure && !is_slow(variant) && checks.has(Check::guard)) {
    result.failure = check_parts(variant, ran);
    if (!result.failure) result.failure = check_in_place(variant, ran);
  }
  if (result.failure) result.verdict = Verdict::fail;
  result.repro = fmt::format("assay check {} --isa {} --case vast", op_.name, isa_name(variant.isa));
  return result;
}

}  // namespace assay
