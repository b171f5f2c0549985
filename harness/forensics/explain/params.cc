// Other numbers, choices and positions than the call's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/forensics/explain/hypothesis.h"

namespace assay::why {
namespace {

using I = std::int64_t;

struct OtherReal {
  const char* name;
  const char* words;
  double (*of)(double value, const Params& params);
  int cost;
};
constexpr OtherReal kReals[] = {
    {"zero", "is taken for 0", [](double, const Params&) { return 0.0; }, 1},
    {"one", "is taken for 1", [](double, const Params&) { return 1.0; }, 1},
    {"negated", "is taken with the other sign", [](double v, const Params&) { return -v; }, 2},
    {"squared", "is squared", [](double v, const Params&) { return v * v; }, 2},
    {"rooted", "is replaced by its square root", [](double v, const Params&) { return std::sqrt(v); }, 2},
    {"doubled", "is taken twice", [](double v, const Params&) { return 2 * v; }, 2},
    {"halved", "is halved", [](double v, const Params&) { return v / 2; }, 2},
    {"1e-5", "is taken for 1e-5", [](double, const Params&) { return 1e-5; }, 2},
    {"1e-6", "is taken for 1e-6", [](double, const Params&) { return 1e-6; }, 2},
    {"10000", "is taken for 10000", [](double, const Params&) { return 1e4; }, 2},
    {"1000000", "is taken for 1000000", [](double, const Params&) { return 1e6; }, 2},
    {"from-head_dim", "is ignored: 1/sqrt(head_dim) is taken",
     [](double v, const Params& p) { return p.has("head_dim") ? 1 / std::sqrt(static_cast<double>(p.integer("head_dim"))) : v; },
     1},
    {"of-n", "is divided by n",
     [](double v, const Params& p) { return p.has("n") ? v / static_cast<double>(p.integer("n")) : v; }, 2},
    {"times-n", "is multiplied by n",
     [](double v, const Params& p) { return p.has("n") ? v * static_cast<double>(p.integer("n")) : v; }, 2},
};

struct OtherWhole {
  const char* name;
  const char* words;
  I (*of)(I value);
  int cost;
};
constexpr OtherWhole kWholes[] = {{"one-more", "is taken one larger", [](I v) { return v + 1; }, 1},
                                  {"one-less", "is taken one smaller", [](I v) { return v - 1; }, 1},
                                  {"zero", "is taken for 0", [](I) { return I{0}; }, 1},
                                  {"toggled", "is taken for the other choice", [](I v) { return v == 0 ? I{1} : I{0}; }, 1}};

void add_param(Hypotheses& all, const Op& op, const std::string& param, const std::string& name, const std::string& words,
               int cost, std::function<std::optional<ParamValue>(const Params&)> other) {
  all.push_back({fmt::format("{}:{}", param, name), "param", fmt::format("{} {}", param, words), Law::equation, cost,
                 [&op, param, other = std::move(other)](const Evidence& one) -> std::optional<Prediction> {
                   Params params = one.whole;
                   const auto value = other(params);
                   if (!value || (params.has(param) && params.values().find(param)->second == *value)) return std::nullopt;
                   params.set(param, *value);
                   auto found = reference_of(op, params, one.call->inputs, one);
                   const auto specs = one.outputs();
                   for (std::size_t o = 0; found && o < specs.size(); ++o) {
                     const auto count = static_cast<std::size_t>(specs[o]->elements());
                     const reference::Expected& expected = found->outputs[o];
                     if (expected.value.size() != count && expected.bytes.size() != count * dtype_size(specs[o]->dtype))
                       return std::nullopt;
                   }
                   return found;
                 }});
}

void add_field(const Op& op, const Field& field, const std::string& param, Hypotheses& all) {
  switch (field.kind) {
    case FieldKind::real32:
    case FieldKind::real64:
      for (const OtherReal& other : kReals) {
        add_param(all, op, param, other.name, other.words, other.cost,
                  [param, &other](const Params& params) -> std::optional<ParamValue> {
                    if (!params.has(param)) return std::nullopt;
                    const double value = params.real(param);
                    const double changed = other.of(value, params);
                    return changed == value ? std::nullopt : std::optional<ParamValue>(changed);
                  });
      }
      return;
    case FieldKind::number:
    case FieldKind::int32:
      for (const OtherWhole& other : kWholes) {
        const bool toggles = std::string_view(other.name) == "toggled";
        if (toggles != (field.kind == FieldKind::int32 && param == "causal")) continue;
        add_param(all, op, param, other.name, other.words, other.cost,
                  [param, &other](const Params& params) -> std::optional<ParamValue> {
                    const I value = params.integer_or(param, 0);
                    // No window is one of another kind: one more than none is none.
                    if (value == 0 && param == "window") return std::nullopt;
                    return ParamValue(other.of(value));
                  });
      }
      return;
    case FieldKind::choice:
      for (const char* const choice : field.choices) {
        add_param(all, op, param, choice, fmt::format("is taken for '{}'", choice), 1,
                  [choice](const Params&) -> std::optional<ParamValue> { return ParamValue(std::string(choice)); });
      }
      return;
    default:
      return;
  }
}

// Each row sees one key less; the first of a sequence none, which gives +0.
std::optional<Prediction> without_own_key(const Op& op, const Evidence& one) {
  const I rows = one.whole.integer_or("rows", 1);
  Prediction said{one.call->expected, {}};
  reference::Expected& out = said.outputs[0];
  const std::size_t of_row = out.value.size() / static_cast<std::size_t>(std::max<I>(rows, 1));
  if (of_row == 0) return std::nullopt;
  std::fill_n(out.value.begin(), of_row, 0.0);
  std::fill_n(out.bound.begin(), of_row, 0.0);
  if (rows == 1) return said;
  Params params = one.whole;
  params.set("rows", rows - 1);
  std::vector<Array> inputs = one.call->inputs;
  inputs[0].shape[0] = rows - 1;
  inputs[0].bytes.erase(inputs[0].bytes.begin(), inputs[0].bytes.begin() + std::ssize(inputs[0].bytes) / rows);
  const auto rest = one.sample ? std::nullopt : reference_of(op, params, inputs, one);
  if (!rest) return std::nullopt;
  std::ranges::copy(rest->outputs[0].value, out.value.begin() + static_cast<std::ptrdiff_t>(of_row));
  std::ranges::copy(rest->outputs[0].bound, out.bound.begin() + static_cast<std::ptrdiff_t>(of_row));
  return said;
}

// The last key that a row sees is another one; where its window begins stays.
void add_masks(const Op& op, Hypotheses& all) {
  for (const I more : {1, -1}) {
    const char* const words = more > 0 ? "a row sees one key more, the next" : "a row does not see its own key";
    all.push_back({more > 0 ? "mask:one-long" : "mask:one-short", "mask", words, Law::equation, 1,
                   [&op, more](const Evidence& one) -> std::optional<Prediction> {
                     Params params = one.whole;
                     const I window = params.integer_or("window", 0);
                     if (!params.has("position") || window + more == 0) return std::nullopt;
                     if (more < 0 && params.integer("position") == 0) return without_own_key(op, one);
                     params.set("position", params.integer("position") + more);
                     if (window > 0) params.set("window", window + more);
                     return reference_of(op, params, one.call->inputs, one);
                   }});
  }
}

// Kv head h mod n_kv in the place of h * n_kv / n_heads: queries moved to where the reference finds that head, their outputs moved back.
void add_head_mapping(const Op& op, Hypotheses& all) {
  all.push_back({"kv-head:modulo", "head mapping", "kv head h mod n_kv is taken for head h, in the place of h * n_kv / n_heads",
                 Law::equation, 1, [&op](const Evidence& one) -> std::optional<Prediction> {
                   const I kv = one.params.integer_or("n_kv", 0);
                   const I group = one.params.integer_or("group", 0);
                   if (kv < 2 || group < 2) return std::nullopt;
                   const TensorSpec& spec = *one.inputs().front();  // q [rows,] heads, head_dim
                   const I width = spec.shape.back();
                   const auto place = [&](I head) { return head % kv * group + head / kv; };
                   std::vector<Array> inputs = one.call->inputs;
                   const std::size_t bytes = static_cast<std::size_t>(width) * dtype_size(spec.dtype);
                   for (I row = 0; row < spec.elements() / width; ++row) {
                     const I head = row % (kv * group);
                     const I to = row - head + place(head);
                     std::copy_n(&one.call->inputs[0].bytes[static_cast<std::size_t>(row) * bytes], bytes,
                                 &inputs[0].bytes[static_cast<std::size_t>(to) * bytes]);
                   }
                   const auto found = reference_of(op, one.params, inputs, one);
                   if (!found) return std::nullopt;
                   Prediction back = *found;
                   if (one.sample) {  // other outputs are known than those that were asked for
                     back.outputs[0].bits_only.assign(back.outputs[0].value.size(), 1);
                     return back;
                   }
                   for (I i = 0; i < spec.elements(); ++i) {
                     const I head = i / width % (kv * group);
                     const auto from = static_cast<std::size_t>(i + (place(head) - head) * width);
                     const auto to = static_cast<std::size_t>(i);
                     back.outputs[0].value[to] = found->outputs[0].value[from];
                     back.outputs[0].bound[to] = found->outputs[0].bound[from];
                     if (!found->outputs[0].bits_only.empty()) back.outputs[0].bits_only[to] = found->outputs[0].bits_only[from];
                   }
                   return back;
                 }});
}

}  // namespace

void add_params(const Op& op, Cases /*cases*/, Hypotheses& all) {
  for (const Field& field : op.family->fields) {
    const std::string param = field.param == nullptr ? field.name : field.param;
    if (!param.empty()) add_field(op, field, param, all);
  }
  if (std::string_view(op.family->name) == "attention") {
    add_head_mapping(op, all);
    add_masks(op, all);
  }
}

}  // namespace assay::why
