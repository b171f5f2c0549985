#include "harness/forensics/reduce/case_c.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "harness/case_program.h"
#include "harness/forensics/reduce/arguments_c.h"
#include "harness/forensics/reduce/literals.h"
#include "harness/plan_c/wrapped.h"
#include "harness/verdict/strided.h"

namespace assay {
namespace {

constexpr std::string_view kTypes = R"(
typedef struct Tensor {
  const char* name;
  const void* data; /* of an output NULL */
  size_t bytes, alignment;
  size_t over_read; /* bytes that the kernel may read past it */
  size_t field;     /* its pointer in the arguments */
  int lies_on;      /* the input that this output is; -1: none */
} Tensor;
typedef struct Output {
  int tensor;
  int64_t count;
  size_t size;       /* of an element */
  const int64_t* at; /* where each is, in elements from the first */
  const double (*truth)[2]; /* and how far from it an output may be; below 0: it is not judged */
  const unsigned char* bytes; /* or what they must be */
  uint64_t infinity;          /* then, where all NaNs are alike, its bits; else 0 */
} Output;
)";

std::string array_text(const std::string& declaration, std::vector<std::string> values) {
  if (values.empty()) values.emplace_back("0");  // C has no empty arrays
  return wrapped(fmt::format("static const {}[] = {{", declaration), values, "};", "    ");
}

// A tensor as it lies in memory; between its rows NaNs.
std::string image_text(const TensorSpec& spec, const Array& array) {
  std::vector<std::uint8_t> bytes(spec.extent_bytes(), 0xff);
  scatter(spec, array, bytes.data());
  const CType& type = c_type(spec.dtype);
  const std::size_t size = &type == &kBytes ? 1 : dtype_size(spec.dtype);
  std::vector<std::string> values;
  for (std::size_t i = 0; i + size <= bytes.size(); i += size)
    values.push_back(literal(&type == &kBytes ? DType::u8 : spec.dtype, &bytes[i]));
  return array_text(fmt::format("{} {}_in", type.name, spec.name), std::move(values));
}

std::int64_t place_of(const TensorSpec& spec, std::int64_t element) {
  std::int64_t place = 0;
  for (std::size_t axis = spec.shape.size(); axis-- > 0; element /= spec.shape[axis])
    place += element % spec.shape[axis] * spec.strides[axis];
  return place;
}

std::string output_text(const TensorSpec& spec, const reference::Expected& expected) {
  std::vector<std::string> places, values;
  const auto judged = [&](std::size_t i) { return expected.bits_only.empty() || expected.bits_only[i] == 0; };
  for (std::int64_t i = 0; i < spec.elements(); ++i) places.push_back(fmt::format("{}", place_of(spec, i)));
  for (std::size_t i = 0; i < expected.value.size(); ++i)
    values.push_back(fmt::format("{{{}, {}}}", literal(expected.value[i]), judged(i) ? literal(expected.bound[i]) : "-1"));
  for (const std::uint8_t byte : expected.bytes) values.push_back(fmt::format("{}", byte));
  const std::string of =
      expected.value.empty() ? fmt::format("unsigned char {}_want", spec.name) : fmt::format("double {}_want", spec.name);
  std::string text = array_text(fmt::format("int64_t {}_at", spec.name), std::move(places));
  if (expected.value.empty()) return text + array_text(of, std::move(values));
  return text + wrapped(fmt::format("static const {}[][2] = {{", of), values, "};", "    ");
}

std::string tensors_text(const Op& op, const Signature& signature, const Candidate& candidate) {
  std::string text = "static const Tensor tensors[] = {\n";
  for (const TensorSpec& spec : signature.tensors) {
    const bool in = spec.role == Direction::in;
    const auto field = std::ranges::find_if(
        op.family->fields, [&](const Field& one) { return one.kind == FieldKind::tensor && one.name == spec.name; });
    const auto on = std::ranges::find(signature.tensors, spec.in_place_only ? spec.aliases.front() : "", &TensorSpec::name);
    text += fmt::format("    {{\"{}\", {}, {}, {}, {}, {}, {}}},\n", spec.name, in ? spec.name + "_in" : "NULL",
                        spec.extent_bytes(), std::max<std::size_t>(spec.alignment, 1), in ? candidate.traits.over_read() : 0,
                        field == op.family->fields.end() ? "0" : fmt::format("offsetof({}, {})", op.family->args, field->name),
                        on == signature.tensors.end() ? -1 : on - signature.tensors.begin());
  }
  return text + "};\n";
}

std::string outputs_text(const Op& op, const Signature& signature, std::span<const reference::Expected> expected) {
  std::string text = "static const Output outputs[] = {\n";
  std::size_t o = 0;
  for (std::size_t t = 0; t < signature.tensors.size(); ++t) {
    const TensorSpec& spec = signature.tensors[t];
    if (spec.role == Direction::in) continue;
    const bool exact = expected[o++].value.empty();
    text += fmt::format("    {{{}, {}, {}, {}_at, {}, {}, 0x{:x}}},\n", t, spec.elements(), dtype_size(spec.dtype), spec.name,
                        exact ? "NULL" : spec.name + "_want", exact ? spec.name + "_want" : "NULL",
                        exact && op.contract->arithmetic_nans ? c_type(spec.dtype).infinity : 0);
  }
  return text + "};\nstatic void* arguments(void);\n\n";
}

std::string head_text(const Op& op, const Reduction& reduction, const std::string& variant, const std::string& kernel) {
  std::string message = reduction.result.failure->message;
  for (std::size_t at = 0; (at = message.find("*/", at)) != std::string::npos;) message.replace(at, 2, "* /");
  return fmt::format(
      "/* {} of {} ({}), reduced: it fails {}.\n   {}\n"
      "     cc -std=c11 case.c -o case -lm -ldl && ./case PLUGIN.so              a kernel of a plugin; of another name: "
      "PLUGIN.so KERNEL\n"
      "     ./case LIBRARY.so FUNCTION                                           a function that takes {}\n"
      "     cc -std=c11 -DKERNEL=FUNCTION case.c kernel.o -o case -lm && ./case  the same, linked\n"
      "   Exit status: 1 while it is wrong, 0 when it is right. */\n"
      "#define _DEFAULT_SOURCE\n"
      "#include <dlfcn.h>\n#include <math.h>\n#include <signal.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n"
      "#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\n"
      "#define OP \"{}\"\n#define NAME \"{}\"\n#define KEEPS_SIGN {}\n",
      variant, op.name, reduction.call.params.to_string(), check_name(reduction.result.failure->check), message, op.family->args,
      op.name, kernel, op.contract->keeps_sign ? 1 : 0);
}

}  // namespace

std::string not_in_c(const Op& op, const Failure& failure) {
  if (op.contract->exactness == reference::Exactness::encoded)
    return "its blocks' bytes are free, and a program of its own would have to decode them";
  if (failure.check != Check::guard) return {};
  constexpr std::array kShown{"touched ",  "wrote ", "changed its input",        "raised ", "aborted ", "trapped ",
                              "executed ", "threw ", "the runner gave no answer"};
  const bool shown = std::ranges::any_of(kShown, [&](const char* words) { return failure.message.starts_with(words); });
  return shown ? "" : "only the bench sees that";
}

std::string case_in_c(const Op& op, const Reduction& reduction, const Candidate& candidate, const std::string& kernel) {
  const JudgedCall& call = *reduction.result.call;
  const ArgumentsInC arguments = arguments_in_c(op, call.signature, reduction.call.params);
  std::string text = head_text(op, reduction, candidate.name, kernel);
  text += fmt::format("enum {{ TENSORS = {} }};\n\n{}{}\n", call.signature.tensors.size(), arguments.structs, kTypes);
  auto input = call.inputs.begin();
  auto expected = call.expected.begin();
  for (const TensorSpec& spec : call.signature.tensors)
    text += spec.role == Direction::in ? image_text(spec, *input++) : output_text(spec, *expected++);
  text += tensors_text(op, call.signature, candidate) + outputs_text(op, call.signature, call.expected);
  return text + std::string(kCaseProgram) + arguments.function;
}

}  // namespace assay
