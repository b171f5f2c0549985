#include "harness/plan_c/emit_pass.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/operand_text.h"
#include "harness/plan_c/call_form.h"
#include "harness/plan_c/wrapped.h"

namespace assay {
namespace {

// A real as a C constant that reads back to its bits.
std::string real_text(ArgumentKind kind, std::int64_t bits) {
  const bool narrow = kind == ArgumentKind::real32;
  std::string text = narrow ? fmt::format("{}", std::bit_cast<float>(static_cast<std::int32_t>(bits)))
                            : fmt::format("{}", std::bit_cast<double>(bits));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return narrow ? text + "f" : text;
}

class PassText {
 public:
  PassText(const Plan& plan, bool decode, bool shared) : plan_(plan), decode_(decode), shared_(shared) {}

  void add_site(const std::string& site, std::int64_t layer, bool barrier, const std::string& comment) {
    if (std::exchange(layer_, layer) != layer) body_ += "\n";
    body_ += fmt::format("  {}(run, \"{}\");  /* {} */\n", barrier ? "site_behind_all" : "site", site, comment);
  }

  void add_step(std::size_t index, const StepForm& form) {
    std::string indent = "  ";
    const Step& step = plan_.steps[index];
    if (shared_) add_shares(index, step, indent);
    if (form.each_row) {
      body_ += indent + (shared_ ? "for (int64_t i = run->begin; i < run->begin + run->count; ++i)"
                                 : "for (int64_t i = 0; i < rows; ++i)");
      body_ += form.calls.size() > 1 ? " {\n" : "\n";
      indent += "  ";
    }
    for (const CallForm& call : form.calls) add_call(call, form.each_row, indent);
    if (form.each_row && form.calls.size() > 1) body_ += indent.substr(2) + "}\n";
  }

  // Who looks sees the last site.
  void add_end() { body_ += "  site(run, NULL);\n"; }

  std::string text() const {
    std::string text = fmt::format("static void {}({}* run{}) {{\n", decode_ ? "decode" : "prefill", shared_ ? "Part" : "Run",
                                   decode_ ? "" : ", int64_t rows");
    if (used_.contains(Variable::position)) text += "  const int64_t position = run->position;\n";
    if (uses_last_) text += "  const int64_t last = rows - 1;\n";
    if (used_.contains(Variable::token)) {
      const SlotLayout& layout = decode_ ? plan_.decode : plan_.prefill;
      text +=
          fmt::format("  const int32_t* const tokens = A({});\n", layout.offsets[static_cast<std::size_t>(plan_.tokens_slot)]);
    }
    return text + body_ + "}\n";
  }

 private:
  void add_shares(std::size_t index, const Step& step, std::string& indent) {
    const Shares shares = shares_of(plan_, step);
    const bool all_rows = shares.by_rows && !decode_ && (!step.of_logits || plan_.options.all_logits);
    const std::string total = all_rows ? "rows" : fmt::format("{}", shares.by_rows ? 1 : shares.total);
    if (shares.in_turn && !decode_) {
      body_ += fmt::format("  while (take(run, &taken[{}], {}, {}))\n", index, total, shares.unit);
      indent += "  ";
    } else {
      body_ += fmt::format("  share(run, {}, {});\n", total, shares.unit);
    }
  }

  std::string name_of(Variable variable, bool each_row) const {
    constexpr std::string_view kNames[] = {"", "position", "rows", "i", "", "run->begin", "run->count"};
    if (variable != Variable::token) return std::string(kNames[static_cast<std::size_t>(variable)]);
    return each_row ? "(int64_t)tokens[i]" : "(int64_t)tokens[0]";
  }

  // "8192 + i * 1024", "position + rows"; of an address, rows - 1 is `last`.
  std::string sum_text(Terms terms, bool address, bool each_row) {
    std::vector<std::string> parts;
    const bool from_last = address && at(terms, Variable::rows) != 0;
    if (from_last) at(terms, Variable::one) += at(terms, Variable::rows);
    uses_last_ = uses_last_ || from_last;
    const std::int64_t constant = at(terms, Variable::one);
    if (address && constant != 0) parts.push_back(fmt::format("{}", constant));
    for (std::size_t i = 1; i < kVariables; ++i) {
      if (terms[i] == 0) continue;
      const auto variable = static_cast<Variable>(i);
      used_.insert(variable);
      const std::string name = from_last && variable == Variable::rows ? "last" : name_of(variable, each_row);
      parts.push_back(terms[i] == 1 ? name : fmt::format("{} * {}", name, terms[i]));
    }
    std::string text = fmt::format("{}", fmt::join(parts, " + "));
    if (parts.empty()) return fmt::format("{}", constant);
    if (address || constant == 0) return text;
    return text + fmt::format(" {} {}", constant < 0 ? '-' : '+', std::abs(constant));
  }

  std::string value_text(const Argument& argument, const Terms& terms, bool each_row) {
    switch (argument.kind) {
      case ArgumentKind::real32:
      case ArgumentKind::real64:
        return real_text(argument.kind, at(terms, Variable::one));
      case ArgumentKind::arena:
        return "A(" + sum_text(terms, true, each_row) + ")";
      case ArgumentKind::weights:
        return "W(" + sum_text(terms, true, each_row) + ")";
      case ArgumentKind::integer:
        return sum_text(terms, false, each_row);
    }
    throw std::logic_error("no such kind of argument");
  }

  // ".k = A(524288)", what is 0 left out as C does it; the fields of a nested struct within its braces.
  std::vector<std::string> initialisers(const CallForm& call, bool each_row) {
    std::vector<std::string> texts;
    const char* open = nullptr;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument& argument = call.arguments[i];
      if (argument.nested != open && open != nullptr) texts.back() += "}";
      const bool begins = argument.nested != open && argument.nested != nullptr;
      open = argument.nested;
      if (argument.kind == ArgumentKind::integer && call.terms[i] == Terms{}) continue;
      texts.push_back(begins ? fmt::format(".{} = &(AssayKvSpan){{", argument.nested) : "");
      texts.back() += fmt::format(".{} = {}", argument.name, value_text(argument, call.terms[i], each_row));
    }
    if (open != nullptr) texts.back() += "}";
    return texts;
  }

  void add_call(const CallForm& call, bool each_row, const std::string& indent) {
    body_ += wrapped(indent + fmt::format("call(run, {}, &({}){{", call.op->name, call.op->family->args),
                     initialisers(call, each_row), "});", indent + "    ");
  }

  const Plan& plan_;
  bool decode_;
  bool shared_;
  std::string body_;
  std::int64_t layer_ = -2;  // of the site before
  std::set<Variable> used_;
  bool uses_last_ = false;
};

}  // namespace

std::string emit_pass(CallRecorder& recorder, const Plan& plan, bool decode, const std::string& input_site, bool shared) {
  const std::vector<StepForm> forms = call_forms(recorder, plan, decode, shared);
  const SlotLayout& layout = decode ? plan.decode : plan.prefill;
  PassText text(plan, decode, shared);
  if (!input_site.empty()) text.add_site(input_site, -1, false, "the input");
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    text.add_site(step.site, step.layer, shared && layout.barriers[i] != 0,
                  operands_text(plan, step.inputs) + " -> " + outputs_text(plan, step));
    text.add_step(i, forms[i]);
  }
  text.add_end();
  return text.text();
}

}  // namespace assay
