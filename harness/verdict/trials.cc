#include "harness/verdict/trials.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <stdexcept>

#include "harness/verdict/declaration.h"
#include "harness/verdict/nearest.h"
#include "harness/verdict/shell.h"

namespace assay {
namespace {

std::string names_of(const std::vector<Isa>& isas) {
  std::string names;
  for (const Isa isa : isas) names += (names.empty() ? "" : " or ") + std::string(isa_name(isa));
  return names;
}

}  // namespace

Trials::Trials(const CheckRequest& request, std::vector<Skip>& skips)
    : request_(request), skips_(skips), kept_left_(request.kept_bytes) {
  if (!request.own_ledger.empty()) own_ledger_.emplace(request.own_ledger);
  if (!request.runner) return;
  runner_ = std::make_unique<RemoteRunner>(*request.runner);
  require_packed_tensors();
}

// What is packed is not timed, so that it must be what a model packs once.
void Trials::require_packed_tensors() const {
  for (const RemoteKernel& kernel : runner_->kernels()) {
    if (kernel.packed_tensor.empty()) continue;
    const char* const weights = find_op(kernel.op)->family->weights;
    if (weights != nullptr && kernel.packed_tensor == weights) continue;
    throw RunnerError(fmt::format("plugin {}: kernel '{}' packs {} of {}; expected {}", kernel.plugin, kernel.variant,
                                  kernel.packed_tensor, kernel.op,
                                  weights == nullptr ? "none: the op has no weights" : std::string(weights) + ", its weights"));
  }
}

bool Trials::wanted(const Op& op, const std::string& name, std::optional<Isa> isa) {
  const bool of_isa = request_.isas.empty() || !isa || std::ranges::find(request_.isas, *isa) != request_.isas.end();
  if (!of_isa) return false;
  names_.insert(name);
  const auto failed = request_.only.find(op.name);
  if (failed != request_.only.end() && !failed->second.variants.contains(name)) return false;
  return request_.variant.empty() || matches(request_.variant, name);
}

std::map<std::string, TraitRecord> Trials::take_records(const Op& op) {
  std::map<std::string, TraitRecord> records;
  for (const Candidate& one : of(op)) {
    records[one.name] = *one.record;
    one.record->not_asked.clear();
  }
  return records;
}

void Trials::add_records(const Op& op, const std::map<std::string, TraitRecord>& records) {
  for (const Candidate& one : of(op)) {
    const auto more = records.find(one.name);
    if (more == records.end()) continue;
    one.record->seen.insert(more->second.seen.begin(), more->second.seen.end());
    std::ranges::copy(more->second.not_asked, std::back_inserter(one.record->not_asked));
    one.record->price = std::max(one.record->price, more->second.price);
  }
}

void Trials::keep_call(CaseResult& result) {
  if (!result.call) return;
  const std::size_t bytes = result.call->bytes();
  if (bytes > kept_left_) return result.call.reset();
  kept_left_ -= bytes;
}

const std::vector<Candidate>& Trials::of(const Op& op) {
  const auto known = known_.find(&op);
  if (known != known_.end()) return known->second;
  std::vector<Candidate>& found = known_[&op] = !request_.callables.empty() ? callables(op) : runner_ ? remote(op) : own(op);
  for (Candidate& one : found) {
    one.keeps_calls = request_.keeps_passing;
    one.drawn_digests = request_.drawn_digests;
  }
  return found;
}

std::vector<Candidate> Trials::own(const Op& op) {
  std::vector<Candidate> found;
  for (const Variant& one : variants_of(op) | std::views::reverse) {
    if (!wanted(op, one.name, one.isa)) continue;
    if (!isa_supported(one.isa)) {
      skips_.push_back({one.name, fmt::format("this CPU lacks {}", isa_name(one.isa))});
      continue;
    }
    executors_.push_back(std::make_unique<InProcess>(one.run));
    found.push_back({.name = one.name,
                     .selection = fmt::format("--isa {}", isa_name(one.isa)),
                     .executor = executors_.back().get(),
                     .code = {"/proc/self/exe", code_place(reinterpret_cast<const void*>(one.run)).offset}});
  }
  if (found.empty() && std::ranges::any_of(request_.isas, isa_supported) && request_.variant.empty())
    skips_.push_back({op.name, fmt::format("has no {} variant", names_of(request_.isas))});
  return found;
}

// Where the kernel is and how it is run, as typed.
std::string Trials::options_of(const RemoteKernel& kernel) const {
  std::string options;
  const auto add = [&options](const char* name, const std::string& value) {
    if (!value.empty()) options += (options.empty() ? "" : " ") + std::string(name) + " " + quoted(value);
  };
  add("--plugin", kernel.plugin);
  add("--runner", request_.runner->command);
  if (request_.runner->limit != kDefaultLimit)
    add("--time-limit", fmt::format("{}", static_cast<double>(request_.runner->limit.count()) / 1000));
  const IsolationRequest& isolation = request_.runner->isolation;
  if (isolation.wish == IsolationRequest::Wish::none) add("--isolation", "none");
  if (isolation.allow_fork) options += " --allow-fork";
  for (const std::string& path : isolation.readable) add("--allow-read", path);
  add("--declare", request_.runner->declared);
  add("--ledger", request_.own_ledger.string());
  return options;
}

// Those of the plugins, or, without one, ours as the runner has them.
std::vector<Candidate> Trials::remote(const Op& op) {
  std::vector<Candidate> found;
  const bool here = request_.runner->command.empty();  // else the file is on another machine
  const auto& kernels = runner_->kernels();
  for (std::size_t k = kernels.size(); k-- > 0;) {
    const RemoteKernel& kernel = kernels[k];
    const bool foreign = !kernel.plugin.empty();
    if (kernel.op != op.name || foreign != request_.plugins()) continue;
    if (!wanted(op, kernel.variant, kernel.isa)) continue;
    if (!kernel.runs) {
      skips_.push_back(
          {variant_label(kernel.op, kernel.variant), fmt::format("the runner's CPU lacks {}", isa_name(kernel.isa))});
      continue;
    }
    const auto record = std::make_shared<TraitRecord>();
    RemoteKernel run = kernel;
    if (foreign) run.traits = declared_also(op, kernel.canonical, kernel.traits, request_.runner->declared);
    executors_.push_back(std::make_unique<RemoteExecutor>(*runner_, run, record));
    const std::string place = options_of(kernel);
    found.push_back(
        {.name = kernel.variant,
         .selection = place + (foreign ? " --variant " + quoted(kernel.variant) : fmt::format(" --isa {}", isa_name(kernel.isa))),
         .executor = executors_.back().get(),
         .canonical = kernel.canonical,
         .acceptance = place,
         .own_ledger = own_ledger_ ? &*own_ledger_ : nullptr,
         .traits = run.traits,
         .arithmetic = arithmetic_of(op, run.traits.words()),
         .record = record,
         .code = here && foreign ? CodePlace{kernel.plugin, kernel.code_offset} : CodePlace{}});
  }
  if (request_.plugins()) std::reverse(found.begin(), found.end());  // in the plugin's own order
  return found;
}

std::vector<Candidate> Trials::callables(const Op& op) {
  std::vector<Candidate> found;
  for (const Callable& one : request_.callables) {
    if (one.op != op.name || !wanted(op, one.name, std::nullopt)) continue;
    found.push_back({.name = one.name,
                     .selection = "--variant " + one.name,
                     .executor = one.executor.get(),
                     .canonical = false,
                     .placed = false,
                     .traits = one.traits,
                     .arithmetic = arithmetic_of(op, one.traits.words())});
    skips_.push_back({variant_label(op.name, one.name),
                      "gets copies of the tensors: not asked for guard pages, alignment, aliases, surroundings, cuts, threads"});
  }
  return found;
}

void Trials::take_traits(const Op& op, SuiteResult& result) const {
  const auto known = known_.find(&op);
  if (known == known_.end()) return;
  for (const Candidate& one : known->second) {
    const std::string label = variant_label(op.name, one.name);
    for (const auto& [key, value] : one.traits.declared())
      result.traits.push_back({label, key, value, one.record->seen.contains(key)});
    for (const auto& [word, value] : one.traits.words()) result.traits.push_back({label, word, value, one.record->price > 1});
    const auto& left_out = one.record->not_asked;
    if (left_out.empty()) continue;
    std::vector<std::string> kinds;
    if (!one.placed) kinds.emplace_back("are to be refused");
    if (!one.traits.takes_nan()) kinds.push_back(fmt::format("hold NaN or infinity ({}=no)", kNan));
    result.skips.push_back({label, fmt::format("not asked of {} cases that {}: {}", left_out.size(), fmt::join(kinds, ", or "),
                                               fmt::join(left_out, "; "))});
  }
}

void Trials::take_code(const Op& op, SuiteResult& result) const {
  const auto known = known_.find(&op);
  if (known == known_.end()) return;
  for (const Candidate& one : known->second) result.code[variant_label(op.name, one.name)] = one.code;
}

std::size_t Trials::page() const {
  return std::max(guard_page_bytes(), runner_ ? runner_->page_bytes() : 0);
}

std::string Trials::runner() const {
  return runner_ ? runner_->machine() + " (" + runner_->isas() + ")" : "";
}

void Trials::require_known_variant() const {
  const auto named = [this](const std::string& name) { return matches(request_.variant, name); };
  if (request_.variant.empty() || std::ranges::any_of(names_, named)) return;
  if (is_glob(request_.variant)) throw std::invalid_argument(fmt::format("no variant matches '{}'", request_.variant));
  throw std::invalid_argument(unknown_name("variant", request_.variant, {names_.begin(), names_.end()}));
}

}  // namespace assay
